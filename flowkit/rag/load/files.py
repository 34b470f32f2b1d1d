"""A file, or the files of a folder, as documents.

load.file("menu.pdf")
load.directory("docs", glob=["**/*.md", "!drafts/**"])
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from copy import copy
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from flowkit.config import Settings
from flowkit.core.threads import run_in_thread
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.rag.load.found import Found, Parser
from flowkit.rag.load.ignore import IGNORE_FILES, patterns
from flowkit.rag.load.loader import Loader
from flowkit.rag.load.skipped import Skipped
from flowkit.rag.load.walk import File, Outside, Unreadable, Walk, walk
from flowkit.schema.text import clean_text

__all__ = ["Files", "directory", "file"]

_LISTED = 256  # entries looked at in one go


def file(
    path: str | Path,
    *,
    parser: Parser | None = None,
    metadata: Mapping[str, Any] | None = None,
    root: str | Path | None = None,
) -> "Files":
    """One file. Its `source` is its path relative to `root`, or its name when it lies elsewhere.

    Args:
        parser: By default it goes by the ending of the name.
        metadata: For every document, beside its source; put over what the parser says.
        root: The project root, when it is not given.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: it is a folder.
    """
    loader = Files(path, root=root, parser=parser, metadata=metadata)
    if loader.path.is_dir():
        raise InvalidInputError(f"{Path(path).as_posix()!r} is a folder", hint="use load.directory")
    return loader


def directory(
    path: str | Path,
    *,
    glob: str | Sequence[str] | None = None,
    recursive: bool = True,
    hidden: bool = False,
    ignore_files: bool = True,
    follow_links: bool = False,
    parser: Parser | None = None,
    metadata: Mapping[str, Any] | None = None,
    root: str | Path | None = None,
) -> "Files":
    """The files of a folder and of those in it, in the order of their names.

    Left out are hidden files (`.git`, `.env`), `node_modules`, `__pycache__` and virtual environments, formats without
    text (only told), and what a `.gitignore` or `.flowkitignore` in the folder or below says. A file's `source` is its
    path relative to `root`; of a folder that lies elsewhere, the path begins with the folder's name. A file or folder
    that cannot be read is skipped, and told.

    Args:
        glob: Which files, by their path in the folder: `"*.md"` those directly in it, `"**/*.md"` all. Of several
            patterns one has to match; one that begins with `!` takes out what the earlier ones matched.
        recursive: Whether to enter the folders in it.
        hidden: Whether to take names that begin with a dot.
        ignore_files: Whether to heed `.gitignore` and `.flowkitignore`.
        follow_links: Whether to enter folders through links (circles are seen), and to read files outside of the folder
            that a link in it leads to. Without, links are read that stay in the folder, and the others are told.
        parser: By default it goes by the endings of the names.
        metadata: For every document, beside its source; put over what the parser says.
        root: The project root, when it is not given.

    Raises:
        NotFoundError: there is no such folder.
        InvalidInputError: it is a file, or a pattern is none.
    """
    spec = None if glob is None else patterns(glob if isinstance(glob, str) else tuple(glob))
    how = Walk(spec, recursive, hidden, ignore_files, follow_links)
    loader = Files(path, root=root, parser=parser, metadata=metadata, how=how)
    if not loader.path.is_dir():
        raise InvalidInputError(f"{Path(path).as_posix()!r} is a file", hint="use load.file")
    return loader


class Files(Loader):
    """See `file` and `directory`; which of the two, the path says."""

    def __init__(
        self,
        path: str | Path,
        *,
        root: str | Path | None = None,
        parser: Parser | None = None,
        metadata: Mapping[str, Any] | None = None,
        how: Walk | None = None,
    ) -> None:
        """
        Raises:
            NotFoundError: there is no such file or folder.
            InvalidInputError: it is a pipe or a device.
        """
        super().__init__(parser, metadata)
        given = Path(path)
        try:
            there = given.exists()
        except (OSError, ValueError):  # too long for a path, or a NUL in it
            there = False
        if not there:
            raise NotFoundError(f"no file or folder {given.as_posix()!r}", hint="check the path and the working folder")
        if not given.is_file() and not given.is_dir():  # reading it might never end
            raise InvalidInputError(
                f"{given.as_posix()!r} is a pipe or a device, not a file", hint="write what comes out to a file"
            )
        self.path = given.resolve()
        self._root = None if root is None else Path(root)
        self._how = how or Walk()

    def under(self, root: Path) -> "Files":
        """The same with that root, unless it was given one."""
        if self._root is not None:
            return self
        placed = copy(self)
        placed._root = root
        return placed

    @property
    def scope(self) -> str | None:
        """ "docs/", or "" when the folder is the root; None for a file."""
        return self._prefix if self.path.is_dir() else None

    def source(self, file: Path) -> str:
        """The `source` of a file, as it is stored: a name that is no Unicode is cleaned."""
        return clean_text(PurePosixPath(file.relative_to(self._base)).as_posix())[0]

    def includes(self, file: Path) -> bool:
        """Whether a change of that file may change what is loaded, going by its path alone."""
        file = file.absolute()
        if not self.path.is_dir() or not file.is_relative_to(self.path):
            return file == self.path
        *folders, name = file.relative_to(self.path).parts or ("",)
        return all(map(self._how.passes, folders)) and (name in IGNORE_FILES or self._how.passes(name))

    async def count(self) -> int | None:
        """How many files there are, unread."""
        if not self.path.is_dir():
            return 1
        counted: int = await run_in_thread(lambda: sum(isinstance(each, File) for each in walk(self.path, self._how)))
        return counted

    @property
    def _base(self) -> Path:
        root = (self._root if self._root is not None else Settings.from_env().root).resolve()
        return root if self.path.is_relative_to(root) else self.path.parent

    @property
    def _prefix(self) -> str:
        return "" if self.path == self._base else f"{self.source(self.path)}/"

    async def _found(self) -> AsyncGenerator[Found | Skipped, None]:
        if not self.path.is_dir():
            yield Found(self.source(self.path), self.path.name, self.path)
            return
        entries = walk(self.path, self._how)
        prefix = self._prefix
        while listed := await run_in_thread(lambda: list(islice(entries, _LISTED))):
            for entry in listed:
                if isinstance(entry, Unreadable) and not entry.relative:
                    raise InvalidInputError(f"the folder {self.path.as_posix()!r} cannot be read: {entry.reason}")
                yield _item(prefix, entry)


def _item(prefix: str, entry: File | Outside | Unreadable) -> Found | Skipped:
    where = prefix + entry.relative
    if isinstance(entry, File):
        return Found(where, entry.relative, Path(entry.path), entry.size_bytes)
    if isinstance(entry, Outside):
        return Skipped(
            source=where, reason="a link that leads out of the folder", hint="pass follow_links=True if it is meant"
        )
    return Skipped(source=where, reason=f"the folder cannot be read: {entry.reason}", hint="check who may read it")
