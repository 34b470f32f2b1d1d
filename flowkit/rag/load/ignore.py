"""Which files a folder's own `.gitignore` and `.flowkitignore` leave out, by the rules of git.

rules = Rules().entering(Path("docs"), "")
rules.leave_out("drafts/a.md", folder=False)
"""

from pathlib import Path
from typing import TYPE_CHECKING

from flowkit.errors import InvalidInputError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["IGNORE_FILES", "Rules", "patterns"]

IGNORE_FILES = (".gitignore", ".flowkitignore")
"""The later one has the last word."""


class Rules:
    """What holds in one folder: its own rules before those of the folders around it."""

    def __init__(self, levels: "tuple[tuple[int, GitIgnoreSpec], ...]" = ()) -> None:
        self._levels = levels

    def entering(self, folder: Path | str, relative: str) -> "Rules":
        """The rules in a folder; `relative` is its path from the top, "" for the top itself, else ending in a slash."""
        lines: list[str] = []
        for name in IGNORE_FILES:
            try:
                lines += Path(folder, name).read_bytes().decode("utf-8-sig", "replace").splitlines()
            except OSError:
                continue  # there is none, or it is a folder
        spec = _spec(lines) if lines else None
        return self if spec is None else Rules((*self._levels, (len(relative), spec)))

    def leave_out(self, relative: str, *, folder: bool) -> bool:
        """Whether that file or folder, by its path from the top, is left out."""
        for start, spec in reversed(self._levels):
            decided = spec.check_file(relative[start:] + ("/" if folder else "")).include
            if decided is not None:
                return decided
        return False


def patterns(glob: str | list[str] | tuple[str, ...]) -> "GitIgnoreSpec":
    """Glob patterns as one matcher. `*` stays within a folder, `**/` is any number of them; `!` takes out again.

    Raises:
        InvalidInputError: one is no pattern.
    """
    from pathspec import GitIgnoreSpec

    lines = []
    for each in [glob] if isinstance(glob, str) else glob:
        negated = each.startswith("!")
        bare = each.removeprefix("!").removeprefix("./").lstrip("/")
        if not bare:
            raise InvalidInputError(f"{each!r} is no pattern for files", hint='for instance "**/*.md"')
        lines.append(f"{'!' if negated else ''}/{bare}")
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise InvalidInputError(f"{glob!r} is no pattern for files: {error}", hint='for instance "**/*.md"') from error


def _spec(lines: list[str]) -> "GitIgnoreSpec | None":
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # git passes over lines that are no patterns
        kept = [line for line in lines if _is_pattern(line)]
        return GitIgnoreSpec.from_lines(kept) if kept else None


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
