"""Where an index lives: one folder per index, under a name that every file system takes.

folder_name("Menu/2024")     # "%4Denu%2F2024"
"""

import difflib
import hashlib
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote

from flowkit.errors import InvalidInputError, StoreError
from flowkit.plugin import Settings

__all__ = [
    "DATABASE",
    "database_lost",
    "default_folder",
    "folder_name",
    "has_vectors",
    "index_name",
    "make_folder",
    "near_names",
    "sync_folder",
]

DATABASE = "index.db"
_LONGEST = 150  # characters, of the 255 that file systems allow; "~" and a hash follow
_SAFE = re.compile(r"[a-z0-9_.-]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)")


def folder_name(index: str) -> str:
    """A folder name for any index name: reversible, and different for different names, whatever the file system folds.

    Lower-case letters, digits, `_`, `-` and inner dots stay; everything else is written as %XX, upper-case letters
    too, because some file systems take `Menu` and `menu` for the same. Very long names are cut and end in a hash.

    Raises:
        InvalidInputError: the name is blank or holds a lone surrogate.
    """
    if not isinstance(index, str) or not index.strip():
        raise InvalidInputError(f"index name {index!r} is blank", hint="give it a name, for instance 'menu'")
    try:
        raw = index.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(f"index name {index!r} is no valid text") from None
    name = "".join(c if _SAFE.fullmatch(c := chr(byte)) else f"%{byte:02X}" for byte in raw)
    if name[0] == "." or _RESERVED.match(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name[-1] == ".":
        name = f"{name[:-1]}%2E"
    if len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}~{hashlib.sha256(raw).hexdigest()[:16]}"
    return name


def index_name(folder: str) -> str | None:
    """The index name that a folder name stands for; None for a cut one, whose index knows its own name."""
    return None if "~" in folder else unquote(folder)


def default_folder() -> Path:
    """`indexes` in the data folder: `<project root>/.flowkit`, or where FLOWKIT_ROOT says."""
    return Settings.from_env().data_folder / "indexes"


def make_folder(folder: Path) -> None:
    """Make the folder, and those above it that are missing, readable by the user alone."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a new file's name durable. Windows has no such call, and needs none."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def near_names(parent: Path, index: str) -> list[str]:
    """Names of existing indexes that look like `index`, the most alike first."""
    if not parent.is_dir():
        return []
    names = [index_name(path.name) or path.name for path in parent.iterdir() if (path / DATABASE).is_file()]
    return difflib.get_close_matches(index, [name for name in names if name != index], n=3)


def has_vectors(folder: Path) -> bool:
    """Whether the folder is, or was, an index. Ask before looking at its database: a process that makes an index makes
    that first, so a folder that had vectors and then has no database has lost it."""
    return any(folder.glob("vectors-*.f32"))


def database_lost(folder: Path) -> StoreError:
    """What is wrong with a folder that has vectors and no database."""
    return StoreError(
        f"{folder / DATABASE} is missing or empty, though its vectors are there",
        hint="bring the folder back from a copy, or move it away and index again; nothing was overwritten",
    )
