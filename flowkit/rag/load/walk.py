"""The files under a folder, in the order of their names; links that lead in circles are not followed.

for each in walk(Path("docs"), Walk()): ...              # a file, or what there is and was not taken
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flowkit.rag.load.ignore import IGNORE_FILES, Rules

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["NO_FOLDERS", "File", "Outside", "Unreadable", "Walk", "walk"]

_Identity = tuple[int, int]
NO_FOLDERS = frozenset({"__pycache__", "node_modules", "venv", "site-packages"})


class File(NamedTuple):
    path: str
    relative: str
    """From the top of the walk, with slashes."""
    size_bytes: int


class Unreadable(NamedTuple):
    """A folder that could not be listed; `relative` is "" for the top."""

    relative: str
    reason: str


class Outside(NamedTuple):
    """A link to a file that is not under the top."""

    relative: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What is left out of a walk, and what it follows."""

    glob: "GitIgnoreSpec | None" = None
    recursive: bool = True
    hidden: bool = False
    ignore_files: bool = True
    follow_links: bool = False

    def passes(self, name: str) -> bool:
        """Whether an entry of that name may be part of it, going by the name alone."""
        return (self.hidden or not name.startswith(".")) and name not in NO_FOLDERS


def walk(top: Path, how: Walk) -> Iterator[File | Outside | Unreadable]:
    """Not recursive itself: folders may nest deeper than Python calls may."""
    start = _entries(str(top))
    if isinstance(start, str):
        yield Unreadable("", start)
        return
    rules = Rules().entering(top, "") if how.ignore_files else Rules()
    inside_of = Path(os.path.realpath(top))
    above: tuple[_Identity, ...] = (_identity(str(top)),)
    stack = [(iter(start), "", rules, above)]
    while stack:
        entries, relative, rules, above = stack[-1]
        entry = next(entries, None)
        if entry is None:
            stack.pop()
            continue
        if not how.passes(entry.name) or entry.name in IGNORE_FILES:
            continue
        place = relative + entry.name
        try:
            is_folder, is_file = entry.is_dir(), entry.is_file()
        except OSError:
            continue  # a link that leads nowhere, or to itself
        if is_folder:
            if not how.recursive or rules.leave_out(place, folder=True):
                continue
            inside = _entering(entry, how, above)
            if inside is None:
                continue
            found = _entries(entry.path)
            if isinstance(found, str):
                yield Unreadable(f"{place}/", found)
                continue
            within = rules.entering(entry.path, f"{place}/") if how.ignore_files else rules
            stack.append((iter(found), f"{place}/", within, inside))
        elif is_file and not rules.leave_out(place, folder=False) and (how.glob is None or how.glob.match_file(place)):
            leads_out = not how.follow_links and entry.is_symlink() and not _real(entry).is_relative_to(inside_of)
            yield Outside(place) if leads_out else File(entry.path, place, _size(entry))


def _entering(entry: "os.DirEntry[str]", how: Walk, above: tuple[_Identity, ...]) -> tuple[_Identity, ...] | None:
    """The folders around those of an entry and itself; None when it is not to be entered."""
    if not entry.is_symlink():
        return (*above, _identity(entry.path)) if how.follow_links else above
    if not how.follow_links:
        return None
    identity = _identity(entry.path)
    return None if identity in above else (*above, identity)


def _real(entry: "os.DirEntry[str]") -> Path:
    return Path(os.path.realpath(entry.path))


def _identity(folder: str) -> _Identity:
    try:
        stat = Path(folder).stat()
    except OSError:
        return (0, 0)
    return (stat.st_dev, stat.st_ino)


def _entries(folder: str) -> "list[os.DirEntry[str]] | str":
    """What is in a folder, by name; or why that is not known."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        return error.strerror or str(error)


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat().st_size
    except OSError:
        return 0
