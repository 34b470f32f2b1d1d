"""What a reader of a format gives, page by page, to the process that asked for it.

def read(job: Job) -> Iterator[Piece]:
    yield Page("Tomato soup")
    yield End({"title": "Menu"}, warnings=())
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flowkit.errors import ParseError
from flowkit.rag.parse.limits import Limits

__all__ = ["End", "Job", "Page", "Piece", "locked"]


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read: by its path, or as bytes."""

    name: str
    """For messages."""
    path: Path | None
    data: bytes | None
    options: dict[str, Any]
    limits: Limits

    @property
    def content(self) -> bytes:
        return self.data if self.data is not None else (self.path or Path()).read_bytes()


@dataclass(frozen=True, slots=True)
class Page:
    """The text of a page or slide, and what was noticed of it; a format without pages has one."""

    text: str
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class End:
    """The last piece."""

    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


Piece = Page | End


def locked(job: Job) -> ParseError:
    """What is wrong with a file that its password does not open."""
    if job.options.get("password"):
        return ParseError(f"{job.name!r} does not open with the password given", hint="check password=")
    return ParseError(f"{job.name!r} is encrypted and needs a password", hint="pass password=")
