"""A process that reads and cuts documents for the dev server: what hangs or grows in it harms nobody.

    python -m flowkit.server.preview.worker

Each line of its input is a request, each line of its output an answer. A request is `{"path", "source"}` or
`{"document"}`, with or without `{"splitter", "settings"}`; the answer is `{"document"}` or `{"preview"}`, or else
`{"error"}`. `{"list"}` is answered with `{"splitters"}`. It ends with its input, and by itself when a request takes too
long.
"""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flowkit.core.values import to_json
from flowkit.errors import FlowkitError, InvalidInputError
from flowkit.rag.ingest.defaults import estimated_tokens
from flowkit.rag.ingest.files import parse_file
from flowkit.schema.documents import Document
from flowkit.server.errors import wire_error
from flowkit.server.preview.cut import cut
from flowkit.server.preview.shapes import ESTIMATE, MAX_CHARS, SECONDS
from flowkit.server.preview.splitters import splitter_list

__all__ = ["main"]

_BYTES = 4_000_000_000


def main() -> None:
    """Answer until the input ends."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a parser that prints must not be taken for an answer
    _limit_memory()
    for line in sys.stdin.buffer:
        with _time_limit():
            answer = _answer(line)
        out.write(answer + b"\n")


def _answer(line: bytes) -> bytes:
    try:
        return to_json(_work(json.loads(line)))
    except FlowkitError as error:
        told = wire_error(error)
    except (MemoryError, RecursionError):
        told = wire_error(InvalidInputError("this takes too much memory", hint="preview a shorter text"))
    except Exception as error:  # noqa: BLE001  a bug of ours: what it is must not look like too much memory
        told = wire_error(error)
    return to_json({"error": told})


def _work(request: Mapping[str, Any]) -> dict[str, Any]:
    if "list" in request:
        return {"splitters": [splitter.to_wire() for splitter in splitter_list()]}
    if "path" in request:
        document = parse_file(Path(request["path"]), request["source"])
    else:
        document = Document.from_wire(request["document"])
    if len(document.text) > MAX_CHARS:
        raise InvalidInputError(
            f"the text has {len(document.text):,} characters", hint=f"a preview takes at most {MAX_CHARS:,}"
        )
    if "splitter" not in request:
        return {"document": document.to_wire()}
    found = cut(document, request["splitter"], request["settings"], count=estimated_tokens, counted_by=ESTIMATE)
    return {"preview": found.to_wire()}


@contextlib.contextmanager
def _time_limit() -> Any:
    """The signal ends the process, also in the middle of a regular expression, and when nobody waits any more."""
    if not hasattr(signal, "alarm"):  # Windows: the dev server alone sees to it
        yield
        return
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    except (ImportError, ValueError, OSError):  # Windows, or a system that does not know this limit
        return


if __name__ == "__main__":
    main()
