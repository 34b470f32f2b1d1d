"""The file by which developer tools find a running app: `.genkit/runtimes/<id>-<ms>.json` in the project root.

file = RuntimeFile.write(root, runtime_id="4711-3100", url="http://127.0.0.1:3100")
file.remove()
"""

import json
import os
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flowkit.server.version import flowkit_version

__all__ = ["RuntimeFile", "runtimes_folder"]

_SPEC_VERSION = 1  # Genkit's command line ends itself when it meets a higher one


def runtimes_folder(root: Path) -> Path:
    return root / ".genkit" / "runtimes"


@dataclass(frozen=True, slots=True)
class RuntimeFile:
    """A file that this process has written."""

    path: Path
    pid: int

    @classmethod
    def write(cls, root: Path, *, runtime_id: str, url: str) -> "RuntimeFile":
        """Write it whole or not at all. The server is to listen already: tools call it at once, and remove the file of
        one that does not answer."""
        now = time.time()
        content = {
            "id": runtime_id,
            "pid": os.getpid(),
            "name": root.name or "flowkit",
            "reflectionServerUrl": url,
            "timestamp": datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "genkitVersion": f"py/{flowkit_version()}",
            "reflectionApiSpecVersion": _SPEC_VERSION,
        }
        folder = runtimes_folder(root)
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", runtime_id)
        path = folder / f"{name}-{int(now * 1000)}.json"
        # Tools read every file of this folder, so the unfinished one is not in it.
        draft = folder.parent / f".{path.name}"
        draft.write_text(json.dumps(content), encoding="utf-8")
        draft.replace(path)
        return cls(path, os.getpid())

    def remove(self) -> None:
        """Remove it if it is this process's own; a forked child, or a file written anew by another, is left alone."""
        if self.pid != os.getpid():
            return
        try:
            content: Any = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        if isinstance(content, dict) and content.get("pid") == self.pid:
            self.path.unlink(missing_ok=True)
