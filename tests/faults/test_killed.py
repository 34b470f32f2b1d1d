"""Indexing that is killed at any moment: what was acknowledged is there, nothing twice, and a rerun does the rest."""

import os
import random
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from flowkit.tracing.store import TraceStore
from tests.faults.conftest import Menu

pytestmark = pytest.mark.heavy

SCRIPT = '''
import asyncio, os, sys
from app import ai
from flowkit import Document

async def main():
    """Index in calls of 25 documents; each is told when it has been acknowledged."""
    lines = open("menu.txt", encoding="utf-8").read().splitlines()
    print(os.getpid(), flush=True)
    for at in range(0, len(lines), 25):
        await ai.index("menu", [Document.from_text(line, {"source": "menu.txt"}) for line in lines[at : at + 25]])
        print(at + 25, flush=True)
    await ai.aclose()

while sys.stdin.readline():  # children, as importing takes longer than what they do
    child = os.fork()
    if child == 0:
        asyncio.run(main())
        os._exit(0)
    os.waitpid(child, 0)
    print("dead", child, flush=True)
'''
LINES = 800


def killed_again_and_again(menu: Menu, *, times: int, seed: int) -> None:
    numbers = random.Random(seed)
    menu.lines(LINES)
    menu.write("script.py", SCRIPT)
    acknowledged = 0
    env = {"EMBED_SECONDS": "0.002", **menu.cached, "FLOWKIT_TRACES": "1"}
    nursery = menu.script("script.py", env=env)
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    for _ in range(times):
        nursery.stdin.write("begin\n")
        nursery.stdin.flush()
        child = int(nursery.stdout.readline())
        said = [nursery.stdout.readline() for _ in range(numbers.randint(0, 3))]
        time.sleep(numbers.uniform(0, 0.15))
        os.kill(child, signal.SIGKILL)
        # It may be killed between a number and the end of its line.
        while not (line := nursery.stdout.readline()).endswith(f"dead {child}\n"):
            assert line, "the nursery has ended"
            said.append(line)
        acknowledged = max([acknowledged, *(int(line) for line in said)])
        there = menu.indexed()
        assert set(range(acknowledged)) <= set(there), "what was acknowledged is there"
        assert len(there) == len(set(there)), "nothing twice"
        if there:  # else it may have been killed before there was an index
            _is_sound(menu.folder / ".flowkit" / "indexes" / "menu" / "index.db")
        if len(there) >= LINES - 200:
            menu.clear()
            acknowledged = 0
    nursery.communicate()

    there = menu.indexed()
    menu.forget_embedded()
    run = menu.process("flow:run", "indexMenu", '"menu.txt"')
    assert (run.code, run.out) == (0, f"{LINES - len(there)}\n")
    assert menu.indexed() == list(range(LINES))
    assert sorted(menu.embedded()) == [f"dish{n:05d}" for n in range(LINES) if n not in set(there)]
    assert TraceStore(menu.folder / ".flowkit" / "traces.db").list(limit=1).items[0].status == "success"


def _is_sound(database: Path) -> None:
    connection = sqlite3.connect(database)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    ((slots, count),) = connection.execute("SELECT slots, count FROM state").fetchall()
    assert connection.execute("SELECT count(*), count(DISTINCT id) FROM rows").fetchone() == (count, count)
    assert slots - connection.execute("SELECT count(*) FROM holes").fetchone()[0] == count
    connection.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_indexing_that_is_killed_ten_times(menu: Menu):
    killed_again_and_again(menu, times=10, seed=20)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(4))
def test_indexing_that_is_killed_a_hundred_times(menu: Menu, seed: int):
    killed_again_and_again(menu, times=25, seed=seed)


def test_a_flow_of_the_command_line_that_is_killed_goes_on_where_it_was(menu: Menu):
    menu.lines(400)
    process = menu.start("flow:run", "indexMenu", '"menu.txt"', env={"EMBED_SECONDS": "0.02"})
    until = time.monotonic() + 30
    while len(menu.embedded()) < 100 and time.monotonic() < until:
        time.sleep(0.01)
    process.kill()
    process.wait()

    there = menu.indexed()
    assert 20 <= len(there) < 400
    menu.forget_embedded()
    run = menu.process("flow:run", "indexMenu", '"menu.txt"')
    assert (run.code, run.out) == (0, f"{400 - len(there)}\n")
    assert len(menu.embedded()) == 400 - len(there)
    assert menu.indexed() == list(range(400))
    latest, killed = TraceStore(menu.folder / ".flowkit" / "traces.db").list().items
    assert (latest.status, killed.status) == ("success", "lost")
