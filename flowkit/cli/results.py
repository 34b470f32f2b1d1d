"""Stdout for results alone, so that a flow can stand in a pipe.

with Results() as results:         # from here on, print() and subprocesses of the app write to stderr
    results.value({"dish": "soup"})
"""

import contextlib
import json
import os
import sys
from types import TracebackType
from typing import Any, Self, TextIO

from flowkit.core.values import to_json
from flowkit.schema.model import GenerateResponseChunk

__all__ = ["Results", "as_json", "as_text"]


def as_json(value: Any, *, indent: int | None = 2) -> str:
    """A value as JSON text with real characters; on one line with `indent=None`."""
    return json.dumps(json.loads(to_json(value)), ensure_ascii=False, indent=indent)


def as_text(value: Any) -> str:
    """A result as it is printed: text unquoted, anything else as JSON."""
    plain = json.loads(to_json(value))
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False, indent=2)


class Results:
    """The real stdout. Writing raises BrokenPipeError when its reader has gone."""

    def __init__(self) -> None:
        self._out: TextIO | None = None
        self._joined: list[str] = []
        self._chunks: list[Any] = []
        self._at_start = True

    def __enter__(self) -> Self:
        self._stdout = sys.stdout
        if sys.stdout is None or sys.stderr is None:  # one of them is closed: nothing can be moved
            return self
        try:
            sys.stdout.flush()
            self._out = _copy_of(sys.stdout)
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        except (OSError, ValueError):  # not real files, as in a notebook
            self._out = self._out or sys.stdout
        sys.stdout = sys.stderr
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        out, sys.stdout = self._out, self._stdout
        if out is None or out is sys.stdout:
            return
        with contextlib.suppress(OSError):
            out.flush()
        with contextlib.suppress(OSError, ValueError):
            os.dup2(out.fileno(), sys.stdout.fileno())
        with contextlib.suppress(OSError):
            out.close()

    def chunk(self, chunk: Any) -> None:
        """A piece of a stream at once: text as it is, anything else as a line of JSON."""
        self._chunks.append(chunk)
        text = chunk.text if isinstance(chunk, GenerateResponseChunk) else chunk
        if isinstance(text, str):
            self._joined.append(text)
            self._write(as_text(text))
        else:
            self._new_line()
            self._write(as_json(chunk, indent=None) + "\n")

    def value(self, value: Any) -> None:
        """The result, unless the chunks were all of it."""
        streamed = bool(self._chunks) and (value == "".join(self._joined) or value == self._chunks)
        self._new_line()
        if not streamed:
            self._write(as_text(value) + "\n")

    def stop(self) -> None:
        """End a line that a stream has left open."""
        with contextlib.suppress(OSError):
            self._new_line()

    def _new_line(self) -> None:
        if not self._at_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text and self._out is not None:
            self._at_start = text.endswith("\n")
            self._out.write(text)
            self._out.flush()


def _copy_of(stream: TextIO) -> TextIO:
    encoding = stream.encoding if stream.isatty() else "utf-8"
    return os.fdopen(os.dup(stream.fileno()), "w", encoding=encoding, errors="replace")
