"""An app with everything in use, before and after forks, in spawned workers, and in threads at once."""

import os

import pytest

from flowkit.tracing.store import TraceStore
from tests.faults.conftest import Menu

pytestmark = pytest.mark.heavy

APP = """
from flowkit import Document, Flowkit
from flowkit_devstore import DevStore
from flowkit_local import Local

ai = Flowkit(plugins=[Local(), DevStore("menu", embedder="local/all-minilm-l6-v2")])
DISHES = ["tomato soup", "vegan lasagne", "chocolate cake", "grilled salmon"]


@ai.flow
async def add(dish: str) -> int:
    return (await ai.index("menu", [Document.from_text(dish, {"source": dish})])).written


@ai.flow
async def best(question: str) -> str:
    hit, *_ = await ai.retrieve("menu", question, k=1)
    return hit.text


def ask(question: str) -> str:
    return ai.run_sync(best, question)
"""
SCRIPT = """
import asyncio, multiprocessing, os, sys
from concurrent.futures import ThreadPoolExecutor
from app import DISHES, add, ai, ask, best


def fork(work):
    child = os.fork()
    if child == 0:
        try:
            work()
            ai.run_sync(ai.aclose())
            code = 0
        except BaseException as error:
            print("in a child:", repr(error), flush=True)
            code = 1
        sys.stdout.flush()
        from flowkit.tracing.recorder import flush_all
        flush_all()
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def child():
    assert ask("a fish from the grill") == "grilled salmon"
    assert ai.run_sync(add, "cheese plate") == 1
    assert ask("cheddar and brie") == "cheese plate"
    fork(lambda: ask("cheddar and brie"))


if __name__ == "__main__":
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda dish: ai.run_sync(add, dish), DISHES)) == [1] * 4
    assert ask("sweet dessert") == "chocolate cake"
    fork(child)
    assert ask("cheddar and brie") == "cheese plate"
    assert asyncio.run(best("a fish from the grill")) == "grilled salmon"
    fork(lambda: ask("sweet dessert"))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(ask, ["sweet dessert", "lasagne for vegans"]) == ["chocolate cake", "vegan lasagne"]
        pool.close()
        pool.join()
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(ask, ["sweet dessert"] * 8)) == {"chocolate cake"}
    ai.run_sync(ai.aclose())
    print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_an_app_in_use_before_and_after_forks_in_spawned_workers_and_in_threads(menu: Menu):
    pytest.importorskip("flowkit_local")
    menu.write("app.py", APP)
    menu.write("script.py", SCRIPT)
    script = menu.script("script.py", env={**menu.cached, "FLOWKIT_TRACES": "1"})

    out, _ = script.communicate(timeout=120)

    assert (script.returncode, out) == (0, "fine\n")
    items = TraceStore(menu.folder / ".flowkit" / "traces.db").list(limit=100).items
    assert {item.status for item in items} == {"success"}
    names = [item.name for item in items]
    assert (names.count("add"), names.count("best")) == (5, 17)
