"""What the UI's bundle is made of, computed as devui/build/info.ts does.

source_hash() == json.loads((STATIC / "build-info.json").read_text())["sources"]
"""

import hashlib
from pathlib import Path

from tests.support.modules import ROOT

__all__ = ["DEVUI", "STATIC", "source_hash"]

DEVUI = ROOT / "devui"
STATIC = ROOT / "flowkit" / "server" / "static"
SOURCES = ("build", "public", "src", "index.html", "package-lock.json", "vite.config.ts")


def source_hash(root: Path = DEVUI) -> str:
    """SHA-256 over path and bytes of each source, in the order of their POSIX paths by UTF-16 code units."""
    files = {path.relative_to(root).as_posix(): path for name in SOURCES for path in _files(root / name)}
    digest = hashlib.sha256()
    for name in sorted(files, key=lambda name: name.encode("utf-16-be")):
        content = files[name].read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path] * path.is_file()
