"""What a process has left on stderr, read as its end."""

import subprocess
import sys
from pathlib import Path

import pytest

from flowkit.server.start.crash import read_crash

CHAINED = """
def load():
    try:
        {}["key"]
    except KeyError as error:
        raise ValueError("no menu\\nsecond line") from error

load()
"""
GROUP = """
def load():
    raise ExceptionGroup("two", [ValueError("first"), TypeError("second")])

load()
"""
LIBRARY = "import json\njson.loads('{')\n"
SYNTAX = "x = 1\ny = (\n"


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        (CHAINED, "ValueError: no menu", 6),
        (GROUP, "ExceptionGroup: two (2 sub-exceptions)", 3),
        (LIBRARY, "json.decoder.JSONDecodeError: Expecting property name", 2),
        (SYNTAX, "SyntaxError: '(' was never closed", 2),
    ],
    ids=["chained", "group", "library", "syntax"],
)
def test_tracebacks_of_python_are_read(tmp_path: Path, source: str, message: str, line: int):
    (tmp_path / "app.py").write_text(source)
    ran = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True)
    crash = read_crash(f"a log line\n{ran.stderr}", exit_code=1, root=tmp_path)

    assert crash.message.startswith(message)
    assert (crash.file, crash.line, crash.is_users) == ("app.py", line, True)
    assert "a log line" not in crash.traceback


def test_only_the_last_traceback_counts(tmp_path: Path):
    told = (
        'Traceback (most recent call last):\n  File "old.py", line 1, in <module>\nValueError: handled\n'
        "still running\n"
        'Traceback (most recent call last):\n  File "new.py", line 9, in <module>\nTypeError: fatal\n'
    )
    crash = read_crash(told, exit_code=1, root=tmp_path)

    assert (crash.message, crash.place) == ("TypeError: fatal", "new.py:9")
    assert "old.py" not in crash.traceback


def test_other_programs_speak_by_their_last_line(tmp_path: Path):
    crash = read_crash("\x1b[31mwarming up\x1b[0m\nno database\n\n", exit_code=3, root=tmp_path)

    assert (crash.message, crash.file, crash.exit_code) == ("no database", None, 3)
    assert crash.traceback == "warming up\nno database"


@pytest.mark.parametrize(
    ("exit_code", "message"),
    [(-11, "it was ended by SIGSEGV"), (-250, "it was ended by signal 250"), (7, "it ended with exit code 7")],
)
def test_a_program_that_says_nothing_is_known_by_its_code(tmp_path: Path, exit_code: int, message: str):
    assert read_crash("", exit_code=exit_code, root=tmp_path).message == message
