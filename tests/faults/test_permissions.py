"""Folders and files that may not be read or written: each is named, and costs only what needs it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.conftest import Menu, one_error, without_overrides

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")]

SAY = ("flow:run", "say", '"hello"')
INDEX = ("flow:run", "indexMenu", '"more.txt"')
ASK = ("flow:run", "menuQA", '"dish00003"')


@pytest.fixture
def indexed(menu: Menu, monkeypatch: pytest.MonkeyPatch) -> Menu:
    menu.lines(20)
    menu.lines(40, chars=100, name="more.txt")
    monkeypatch.setenv("FLOWKIT_EMBEDDING_CACHE", "1")
    run = menu.run("flow:run", "indexMenu", '"menu.txt"')
    assert (run.code, run.out) == (0, "20\n")
    return menu


@contextmanager
def mode(path: Path, mode: int) -> Iterator[None]:
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        path.chmod(before)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(modes[path] & 0o555)
    try:
        yield
    finally:
        for path in paths:
            path.chmod(modes[path])


def test_a_project_where_nothing_can_be_made(menu: Menu):
    with mode(menu.folder, 0o500):
        said, traces, indexes, doctor = menu.restricted(SAY, ("trace:list",), ("store:list",), ("doctor",))

    assert (said.code, said.out) == (0, "hello\n")
    warning, trace = said.err.splitlines()
    assert f"{menu.folder / '.flowkit' / 'traces.db'} cannot be opened: Permission denied (check its owner" in warning
    assert trace.endswith("(not kept)")
    assert (traces.code, indexes.code, doctor.code) == (0, 0, 1)
    assert f"make {menu.folder} writable" in doctor.out


def test_an_index_and_traces_that_may_only_be_read_can_be_read(indexed: Menu):
    with read_only(indexed.folder / ".flowkit"):
        said, asked, written, traces, indexes = indexed.restricted(SAY, ASK, INDEX, ("trace:list",), ("store:list",))

    assert (said.code, said.out) == (0, "hello\n")
    assert (asked.code, asked.out.count("dish")) == (0, 3)
    assert written.code == 1
    assert f"no permission for {indexed.folder / '.flowkit' / 'indexes' / 'menu' / 'vectors-000001.f32'}" in written.err
    assert "Hint:  check its owner and mode" in written.err
    assert (traces.code, "indexMenu" in traces.out) == (0, True)
    assert (indexes.code, "20" in indexes.out) == (0, True)

    run = indexed.run(*INDEX)
    assert (run.code, run.out) == (0, "40\n")
    assert len(indexed.indexed()) == 60


def test_what_was_opened_for_reading_only_is_opened_anew_when_somebody_has_written(indexed: Menu):
    """The reader, in one process, sees what another writes between two of its searches."""
    code = """
import asyncio, sys
from pathlib import Path
from flowkit_devstore import DevStore

async def main():
    store = DevStore("menu", folder=Path(sys.argv[1]))
    while True:
        await store.open(create=False)
        print((await store.stats()).count, flush=True)
        if not sys.stdin.readline():
            break
    await store.aclose()

asyncio.run(main())
"""
    folder = indexed.folder / ".flowkit" / "indexes"
    with mode(folder / "menu", 0o500):
        command = [sys.executable, "-c", code, str(folder)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        reader = subprocess.Popen(command, preexec_fn=without_overrides, **pipes)
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stdout.readline() == "20\n"
        (folder / "menu").chmod(0o700)
        indexed.run("flow:run", "indexMenu", '"more.txt"')
        (folder / "menu").chmod(0o500)
        reader.stdin.write("again\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "60\n"
        reader.communicate()
        assert reader.returncode == 0


@pytest.mark.parametrize("name", [".", "indexes/menu", "indexes/menu/vectors-000001.f32"])
def test_an_index_that_may_not_be_read_is_named(indexed: Menu, name: str):
    path = indexed.folder / ".flowkit" / name
    with mode(path, 0):
        asked, written, indexes, doctor = indexed.restricted(ASK, INDEX, ("store:list",), ("doctor",))

    for run in (asked, written):
        assert run.code == 1
        assert "Hint:  check its owner and mode" in run.err
        assert str(indexed.folder / ".flowkit" / "indexes" / "menu") in run.err
    assert "vectors" in name or indexes.code == 1 or "menu" in indexes.out + indexes.err
    assert "Error" not in doctor.err
    assert doctor.code == 1
    assert len(indexed.indexed()) == 20


def test_a_cache_that_may_not_be_read_costs_a_warning(indexed: Menu):
    with mode(indexed.folder / ".flowkit" / "cache", 0):
        asked, written = indexed.restricted(ASK, INDEX)

    assert (asked.code, asked.out.count("dish"), written.out) == (0, 3, "40\n")
    for run in (asked, written):
        warning, _ = run.err.splitlines()
        assert warning.startswith("Warning: embeddings are not cached in ")


def test_traces_that_may_not_be_read_are_named(indexed: Menu):
    with mode(indexed.folder / ".flowkit" / "traces.db", 0):
        said, traces = indexed.restricted(SAY, ("trace:list",))

    assert (said.code, said.out) == (0, "hello\n")
    error, hint = one_error(traces)
    assert str(indexed.folder / ".flowkit" / "traces.db") in error
    assert hint.startswith("check its owner and mode")
