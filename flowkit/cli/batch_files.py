"""The files of a batch: its inputs, its outputs, and the journal by which it goes on after it was stopped.

inputs = read_inputs(Path("questions.jsonl"))
journal = Journal.open(Path("answers.jsonl"), inputs, restart=False)
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from flowkit.cli.lines import CliError
from flowkit.cli.value import parse_json, read_file
from flowkit.cli.whole_files import write_whole

__all__ = ["Journal", "Row", "read_inputs"]

Row = Mapping[str, Any]
"""`{"input", "output"}`, or `{"input", "error"}`."""

_HALF = re.compile("[\ud800-\udfff]")


def read_inputs(file: Path) -> list[Any]:
    """The inputs of a file.

    Raises:
        CliError: there is no such file, it holds something else, or nothing.
    """
    text = read_file(file)
    if file.suffix == ".jsonl" or not text.lstrip().startswith("["):
        values = [_line(file, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    else:
        try:
            values = parse_json(text)
        except ValueError as error:
            raise CliError(f"{file} is no JSON: {error}") from None
    if not values:
        raise CliError(f"{file} has no inputs", hint="a JSON array, or one JSON value on each line")
    if isinstance(values[0], dict) and "input" in values[0]:
        for number, value in enumerate(values, 1):
            if not isinstance(value, dict) or "input" not in value:
                raise CliError(f"{file}: number {number} has no input, as the first one has")
        return [value["input"] for value in values]
    return list(values)


def _line(file: Path, number: int, line: str) -> Any:
    try:
        return parse_json(line)
    except ValueError as error:
        hint = "one JSON value on each line; texts in double quotes"
        raise CliError(f"{file}, line {number}: no JSON: {error}", hint=hint) from None


class Journal:
    """What is done, written as it is done. The output is made of it at the end; it goes when everything succeeded."""

    def __init__(self, output: Path, inputs: Sequence[Any]) -> None:
        self.path = output.with_name(f".{output.name}.journal")
        self.done: dict[int, Row] = {}
        """By the number of the input; without those that failed."""
        self._output = output
        self._inputs = inputs
        self._file: IO[str] | None = None

    @classmethod
    def open(cls, output: Path, inputs: Sequence[Any], *, restart: bool) -> "Journal":
        """Go on from the journal that is there, if it is of these inputs; else begin one."""
        journal = cls(output, inputs)
        if not restart:
            journal._read()
        # Written anew: what a killed process left half-written would swallow the next line.
        lines = [{"inputs": _digest(inputs)}, *({"number": number, **row} for number, row in journal.done.items())]
        write_whole(journal.path, "".join(_json(line) + "\n" for line in lines).encode())
        journal._file = journal.path.open("a", encoding="utf-8")
        return journal

    def add(self, number: int, row: Row) -> None:
        """One input is done."""
        self.done[number] = row
        self._write({"number": number, **row})

    def finish(self, rows: Sequence[Row]) -> None:
        """Write the output, whole or not at all; the journal stays when some failed."""
        if self._file is not None:
            self._file.close()
        if self._output.suffix == ".jsonl":
            text = "".join(_json(row) + "\n" for row in rows)
        else:
            text = _json(rows, indent=2) + "\n"
        write_whole(self._output, text.encode())
        if not any("error" in row for row in rows):
            self.path.unlink()

    def close(self) -> None:
        """Stop; a later run goes on from here."""
        if self._file is not None:
            self._file.close()

    def _write(self, value: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file.write(_json(value) + "\n")
            self._file.flush()

    def _read(self) -> None:
        """What is done, up to the first line that is none of a journal's."""
        try:
            first, *lines = self.path.read_bytes().split(b"\n")
        except OSError:
            return
        if _entry(first).get("inputs") != _digest(self._inputs):
            return
        for entry in map(_entry, lines):
            number = entry.pop("number", None)
            if type(number) is not int:
                return  # the last one, when the process was killed while it wrote
            if "output" in entry:
                self.done[number] = entry


def _entry(line: bytes) -> dict[str, Any]:
    """A line of a journal; nothing, when it is no object."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _json(value: Any, *, indent: int | None = None) -> str:
    """With real characters, unless one of them is half of a pair: UTF-8 has none for it, JSON has."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return json.dumps(value, indent=indent) if _HALF.search(text) else text


def _digest(inputs: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:32]
