"""SQLite files that several threads and processes may make at once."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flowkit.core.sqlite_files import make_private_file, use_wal

WRITES = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


def connect(file: Path, timeout: float = 0) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=timeout, isolation_level=None, check_same_thread=False)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_new_file_is_its_owners_alone_and_leaves_nothing_beside_it(tmp_path: Path):
    file = tmp_path / "new.db"

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda _: make_private_file(file), range(64)))

    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    connect(file).execute("CREATE TABLE dishes (name)")


def test_a_file_is_made_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*paths: object) -> None:
        raise PermissionError("this file system has no links")

    monkeypatch.setattr(os, "link", refuse)
    for _ in range(2):
        make_private_file(tmp_path / "new.db")

    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]


@pytest.mark.heavy
def test_a_file_that_is_there_keeps_the_locks_of_this_process(tmp_path: Path):
    file = tmp_path / "used.db"
    make_private_file(file)
    mine = connect(file)
    mine.execute("BEGIN IMMEDIATE")

    make_private_file(file)

    other = subprocess.run([sys.executable, "-c", WRITES, str(file)], capture_output=True, text=True, check=True)
    assert other.stdout == "database is locked\n"


def test_a_database_gets_its_log_when_others_are_through(tmp_path: Path):
    file = tmp_path / "busy.db"
    first, second = connect(file), connect(file)
    first.execute("BEGIN EXCLUSIVE")
    thread = threading.Timer(0.1, lambda: first.execute("ROLLBACK"))
    thread.start()

    use_wal(second)

    thread.join()
    assert second.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_database_that_cannot_have_a_log_says_so(tmp_path: Path):
    (tmp_path / "text.db").write_text("this is no database, but some thousand words of text " * 40)

    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        use_wal(connect(tmp_path / "text.db"))


def test_a_file_that_cannot_be_made_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError) as caught:
        make_private_file(tmp_path / "nowhere" / "new.db")

    assert caught.value.filename == str(tmp_path / "nowhere" / "new.db")
