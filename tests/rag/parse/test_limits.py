"""Files that are hostile or broken end the process that reads them, never this one, and say what they did."""

import io
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from flowkit.errors import InvalidInputError, ParseError, UnsupportedError
from flowkit.rag import parse
from flowkit.rag.parse import workers
from flowkit.rag.parse.worker import receive, send
from tests.rag.parse.files import book, word
from tests.rag.parse.papers import paper

MENU = paper("Soup", "Salad", "Cake")


def test_a_page_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "_PROGRAM", _program("import time; time.sleep(60)"))
    _no_workers()

    with pytest.raises(ParseError, match=r"'menu\.pdf' took longer than 0\.2 seconds at page 1.*page_seconds"):
        parse.pdf(MENU, source_name="menu.pdf", limits=parse.Limits(page_seconds=0.2))


def test_a_library_that_never_comes_back_is_ended_too(monkeypatch: pytest.MonkeyPatch):
    # One long operation of the interpreter itself: no signal and no other thread gets through.
    monkeypatch.setattr(workers, "_PROGRAM", _program("sum(range(10**12))"))
    _no_workers()

    with pytest.raises(ParseError, match=r"took longer than 0\.2 seconds"):
        parse.html(b"<p>Soup", limits=parse.Limits(page_seconds=0.2))


def test_the_page_at_which_a_file_ends_the_process_is_told(monkeypatch: pytest.MonkeyPatch):
    pages = "from flowkit.rag.parse.pieces import Page; import os; yield Page('Soup'); yield Page('Salad')"
    monkeypatch.setattr(workers, "_PROGRAM", _program(f"{pages}; os.abort()"))
    _no_workers()
    with pytest.raises(ParseError, match=r"ends the process that reads it at page 3 \("):
        parse.pdf(MENU)

    monkeypatch.setattr(workers, "_PROGRAM", _program(f"{pages}; sum(range(10**12))"))
    with pytest.raises(ParseError, match=r"took longer than 0\.2 seconds at page 3"):
        parse.pdf(MENU, limits=parse.Limits(page_seconds=0.2))


def test_what_a_process_did_not_say_to_its_end_is_not_said():
    said = io.BytesIO()
    send(said, {"pages": [["Soup", {}]]})
    whole = said.getvalue()

    assert receive(io.BytesIO(whole)) == {"pages": [["Soup", {}]]}
    assert [receive(io.BytesIO(whole[:size])) for size in range(len(whole))] == [None] * len(whole)


def test_a_crash_of_a_library_is_an_error_and_the_next_file_is_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "_PROGRAM", _program("import os; os.abort()"))
    _no_workers()
    with pytest.raises(ParseError, match=r"'menu\.pdf' ends the process that reads it at page 1 \(code -?\d+\)"):
        parse.pdf(MENU, source_name="menu.pdf")
    monkeypatch.undo()

    assert parse.pdf(MENU).text == "Soup\n\nSalad\n\nCake"


def test_an_error_that_nobody_foresaw_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "_PROGRAM", _program("raise ZeroDivisionError('why\\nnot')"))
    _no_workers()

    with pytest.raises(ParseError, match=r"'menu\.pdf' cannot be read \(ZeroDivisionError: why not\)"):
        parse.pdf(MENU, source_name="menu.pdf")
    _no_workers()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its memory")
def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "_PROGRAM", _program("bytearray(10**9)"))
    _no_workers()

    with pytest.raises(ParseError, match=r"needs more than 300 MB of memory.*memory_bytes"):
        parse.html(b"<p>Soup", limits=parse.Limits(memory_bytes=300_000_000))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its memory")
def test_a_small_office_file_that_unpacks_to_gigabytes_is_given_up():
    paragraph = b"<w:p><w:r><w:t>A</w:t></w:r></w:p>"
    bomb = _with_body(word([("Normal", "Soup")]), paragraph * 2_000_000)
    assert len(bomb) < 500_000

    with pytest.raises(ParseError, match=r"memory|unpacks|longer"):
        parse.office(bomb, source_name="a.docx", limits=parse.Limits(memory_bytes=400_000_000))
    with pytest.raises(ParseError, match="unpacks to more than the limit: it may have been made to fill the memory"):
        parse.office(bomb, source_name="a.docx", limits=parse.Limits(max_bytes=20_000_000))


def test_a_book_that_unpacks_to_more_than_it_may_is_given_up():
    bomb = book({"one.xhtml": "<p>Soup</p>" * 500_000})

    with pytest.raises(ParseError, match="unpacks to more than the limit"):
        parse.epub(bomb, limits=parse.Limits(max_bytes=1_000_000))


@pytest.mark.parametrize(
    ("find", "at", "says"),
    [(bytes.find, 22 - 30, "unpacks to more than the limit"), (bytes.rfind, 24 - 46, "is a broken EPUB")],
    ids=["before the file", "in the directory"],
)
def test_an_archive_that_lies_about_its_sizes_is_counted_all_the_same(find: Any, at: int, says: str):
    data = book({"one.xhtml": "x" * 3_000_000})
    size = find(data, b"OEBPS/one.xhtml") + at

    with pytest.raises(ParseError, match=says):
        parse.epub(data[:size] + (10).to_bytes(4, "little") + data[size + 4 :], limits=parse.Limits(max_bytes=100_000))


@pytest.mark.parametrize(
    ("at", "value"),
    [(10 - 46, b"\x63\0"), (8 - 46, b"\1\0"), (6 - 46, b"\xff\0")],
    ids=["packed as nothing knows", "encrypted", "of a version to come"],
)
def test_an_archive_that_cannot_be_unpacked_is_told(at: int, value: bytes):
    data = book({"one.xhtml": "<p>Soup"})
    for name in (b"mimetype", b"META-INF/container.xml"):
        place = data.rfind(name) + at
        data = data[:place] + value + data[place + 2 :]

    with pytest.raises(ParseError, match=r"'a\.epub' is a broken EPUB"):
        parse.auto()(data, source_name="a.epub")
    with pytest.raises(UnsupportedError, match="a broken zip archive"):
        parse.auto()(data, source_name="a.zip")


def test_an_archive_whose_first_file_is_spoilt_is_told():
    data = book({"one.xhtml": "<p>Soup"})
    packed_at = data.find(b"mimetype") + len(b"mimetype")

    with pytest.raises(UnsupportedError, match="a broken zip archive"):
        parse.auto()(data[:packed_at] + b"\xff" + data[packed_at + 1 :], source_name="a.zip")


def test_pages_characters_and_bytes_are_limited():
    with pytest.raises(ParseError, match=r"has 3 pages, and 2 are the limit.*max_pages"):
        parse.pdf(MENU, limits=parse.Limits(max_pages=2))
    with pytest.raises(ParseError, match=r"more than 5 characters of text.*max_characters"):
        parse.pdf(MENU, limits=parse.Limits(max_characters=5))
    with pytest.raises(ParseError, match=r"more than 5 characters of text"):
        parse.text(b"Tomato soup", limits=parse.Limits(max_characters=5))
    with pytest.raises(ParseError, match=r"'a\.txt' has 0 MB, and 0 MB is the limit.*max_bytes"):
        parse.auto(limits=parse.Limits(max_bytes=5))(b"Tomato soup", source_name="a.txt")
    assert parse.pdf(MENU).metadata["pages"] == 3


def test_limits_are_above_nothing():
    for wrong in (0, -1, True, "9"):
        values: dict[str, Any] = {"max_pages": wrong}
        with pytest.raises(InvalidInputError, match="max_pages is"):
            parse.Limits(**values)


def test_reading_in_this_process_gives_the_same():
    here = parse.Limits(isolated=False)
    assert parse.pdf(MENU, limits=here) == parse.pdf(MENU)
    assert parse.html(b"<h1>Soup</h1>x", limits=here) == parse.html(b"<h1>Soup</h1>x")
    with pytest.raises(ParseError, match="3 pages, and 2"):
        parse.pdf(MENU, limits=parse.Limits(isolated=False, max_pages=2))


def test_a_process_is_used_again_and_replaced_when_it_has_gone():
    _no_workers()
    parse.pdf(MENU)
    (first,) = workers._pool._idle
    parse.html(b"<p>Soup")
    assert workers._pool._idle == [first]

    first.process.kill()
    first.process.wait()

    assert parse.pdf(MENU).metadata["pages"] == 3
    assert workers._pool._idle != [first]


def test_threads_read_side_by_side():
    _no_workers()
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(parse.pdf(MENU).text)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert found == ["Soup\n\nSalad\n\nCake"] * 3


@pytest.mark.heavy
def test_nothing_is_left_behind_however_a_program_ends(tmp_path: Path):
    program = f"""
import os, sys
from flowkit.rag import parse
from flowkit.rag.parse import workers
from flowkit.rag.parse.worker import receive, send
parse.pdf({MENU!r})
print(workers._pool._idle[0].process.pid, flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), 9)
"""
    for way in ("done", "killed"):
        run = subprocess.run([sys.executable, "-W", "error", "-c", program, way], capture_output=True, text=True)
        assert run.stderr == ""
        assert not _lives(int(run.stdout), tries=100)


def _lives(pid: int, *, tries: int) -> bool:
    for _ in range(tries):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat")
            if state.exists() and state.read_text().split()[2] == "Z":
                return False
        except OSError:
            return False
        threading.Event().wait(0.1)
    return True


def _program(statement: str) -> str:
    """A process whose reader does that when it begins with a file."""
    return f"""
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from flowkit.rag.parse import worker
def read(job):
    {statement}
    yield
worker.reader_of = lambda kind: read
worker.main()
"""


def _no_workers() -> None:
    workers._pool.end()


def _with_body(data: bytes, paragraphs: bytes) -> bytes:
    """A Word file with more in it."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "word/document.xml":
                part = part.replace(b"<w:body>", b"<w:body>" + paragraphs)
            new.writestr(name, part)
    return made.getvalue()
