"""What parsing one file may take, so that a broken or hostile one is an error and nothing worse.

parse.auto(limits=parse.Limits(max_pages=50_000, file_seconds=3600))
"""

from dataclasses import dataclass

from flowkit.errors import InvalidInputError

__all__ = ["DEFAULT_LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """PDF, Office, EPUB and YAML files and web pages are read in a process of their own, which ends beyond them.

    Over a limit the file is a `ParseError` that names it; nothing of the file is kept.
    """

    page_seconds: float = 20.0
    """Of processor time, for one page of a PDF, or for a whole file of a format without pages; on the clock, six times
    that, since a busy machine is no reason."""
    file_seconds: float = 1800.0
    """On the clock, for a file of many pages."""
    memory_bytes: int = 512 * 1024 * 1024
    """Of the process that reads; held by the operating system on Linux."""
    max_pages: int = 10_000
    max_characters: int = 50_000_000
    """Of the text that comes out."""
    max_bytes: int = 500_000_000
    """Of the file, and of what is packed in it once it is unpacked."""
    isolated: bool = True
    """False reads in this process, without limits of time and memory: for programs that cannot start another."""

    def __post_init__(self) -> None:
        for name in ("page_seconds", "file_seconds", "memory_bytes", "max_pages", "max_characters", "max_bytes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InvalidInputError(f"{name} is {value!r}", hint="use a number above 0")


DEFAULT_LIMITS = Limits()
