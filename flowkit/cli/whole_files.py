"""Files that are written whole or not at all: a full disk or a kill leaves what was there before.

write_whole(Path("run.json"), data)
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(file: Path, data: bytes) -> None:
    """Make or replace a file. A link stays one, and a file's mode stays; pipes and devices are written to.

    Raises:
        OSError: it cannot be written; what was there is as it was.
    """
    file = file.resolve()
    if file.exists() and not file.is_file():
        file.write_bytes(data)
        return
    draft = file.with_name(f".{file.name}.{os.getpid()}.draft")
    try:
        draft.write_bytes(data)
        with suppress(OSError):  # there was none, or it is somebody else's
            shutil.copymode(file, draft)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
