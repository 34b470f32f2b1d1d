"""Files that ship inside a Python package, also one in a zip file.

load.package("bistro", "menus", glob="**/*.md")
"""

import importlib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import islice
from typing import TYPE_CHECKING, Any

from flowkit.core.threads import run_in_thread
from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.rag.load.found import Found, Parser
from flowkit.rag.load.ignore import patterns
from flowkit.rag.load.loader import Loader
from flowkit.rag.load.skipped import Skipped
from flowkit.rag.load.walk import NO_FOLDERS

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["Package", "package"]

_LISTED = 64


def package(
    name: str,
    path: str = "",
    *,
    glob: str | Sequence[str] | None = None,
    recursive: bool = True,
    parser: Parser | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> "Package":
    """One file of a package, or the files of a folder in it, in the order of their names.

    A `source` is `package://bistro/menus/dinner.md`. Hidden files and `__pycache__` are left out.

    Args:
        name: The package's import name; it is imported, as `importlib.resources` does.
        path: In the package; "" is all of it, with its Python files.
        glob: Which files of the folder, as for `load.directory`.

    Raises:
        NotFoundError: there is no such package, or nothing at that path.
        InvalidInputError: that is no name of a package.
    """
    if not all(name.split(".")):
        raise InvalidInputError(f"{name!r} is no name of a package", hint="give the one that is imported")
    try:
        # As resources.files does; here, so that an ImportError inside of the package is not taken for "no such".
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise NotFoundError(f"no package {name!r}", hint="is it installed?") from error
    if not hasattr(module, "__path__"):
        raise InvalidInputError(f"{name!r} is a module, not a package", hint="files ship in packages")
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    top = resources.files(name)
    found = top.joinpath(*parts) if parts else top
    if ".." in parts or not (found.is_dir() or found.is_file()):
        raise NotFoundError(f"the package {name!r} has no {path!r}", hint="is the file among its package data?")
    spec = None if glob is None else patterns(glob if isinstance(glob, str) else tuple(glob))
    return Package(found, "/".join((name, *parts)), spec, recursive, parser=parser, metadata=metadata)


class Package(Loader):
    """See `package`."""

    def __init__(
        self,
        top: Traversable,
        place: str,
        glob: "GitIgnoreSpec | None",
        recursive: bool,
        *,
        parser: Parser | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(parser, metadata)
        self._top = top
        self._place = f"package://{place}"
        self._glob = glob
        self._recursive = recursive

    @property
    def scope(self) -> str | None:
        return f"{self._place}/" if self._top.is_dir() else None

    async def _found(self) -> AsyncGenerator[Found | Skipped, None]:
        if self._top.is_file():
            yield Found(self._place, self._top.name, self._top.read_bytes)
            return
        files = self._walk(self._top, "")
        while listed := await run_in_thread(lambda: list(islice(files, _LISTED))):
            for relative, file in listed:
                yield Found(f"{self._place}/{relative}", file.name, file.read_bytes)

    def _walk(self, folder: Traversable, relative: str) -> Iterator[tuple[str, Traversable]]:
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            place = relative + entry.name
            if entry.name.startswith(".") or entry.name in NO_FOLDERS:
                continue
            if entry.is_dir():
                if self._recursive:
                    yield from self._walk(entry, f"{place}/")
            elif entry.is_file() and (self._glob is None or self._glob.match_file(place)):
                yield place, entry
