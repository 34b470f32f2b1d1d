"""Many processes on one index: writers at once, and readers of a big one."""

from pathlib import Path

import pytest

from flowkit.tracing.store import TraceStore
from tests.faults.conftest import Menu
from tests.plugins.devstore.numbered import python

pytestmark = pytest.mark.heavy

READER = """
import asyncio, sys, time
from pathlib import Path
import numpy as np
from flowkit.plugin import SearchQuery
from flowkit_devstore import DevStore

async def main(folder, count, seed):
    numbers = np.random.default_rng(seed)
    store = DevStore("big", folder=Path(folder))
    began = time.perf_counter()
    await store.open(create=False)
    opened = time.perf_counter() - began
    assert (await store.stats()).count == count
    for number in numbers.integers(0, count, 10).tolist():
        (row,) = (await store.fetch(ids=[f"r{number:06d}"], with_vectors=True)).items
        best, *rest = await store.search(SearchQuery(vector=row.vector, k=10))
        assert (best.id, best.score, len(rest)) == (row.id, 1.0, 9), (best.id, best.score)
    await store.aclose()
    print(f"opened in {opened * 1000:.0f} ms", flush=True)

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""
WRITER = """
import asyncio, sys
from pathlib import Path
import numpy as np
from flowkit import Document
from flowkit.plugin import EmbeddedDocument
from flowkit_devstore import DevStore

async def main(folder, count):
    numbers = np.random.default_rng(0)
    store = DevStore("big", folder=Path(folder))
    await store.open(create=True)
    for at in range(0, count, 5000):
        vectors = numbers.standard_normal((5000, 128), dtype=np.float32)
        await store.upsert(
            [
                EmbeddedDocument(Document.from_text(f"dish {n}", {"n": n}, id=f"r{n:06d}"), vectors[n - at])
                for n in range(at, at + 5000)
            ]
        )
    await store.aclose()

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def queried_by_all(folder: Path, *, count: int, processes: int) -> None:
    assert python(WRITER, folder, count).wait(600) == 0
    readers = [python(READER, folder, count, seed) for seed in range(processes)]
    for reader in readers:
        out, _ = reader.communicate(timeout=300)
        assert (reader.returncode, out[:9]) == (0, "opened in")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_index_of_10_000_documents_is_queried_by_four_processes(tmp_path: Path):
    queried_by_all(tmp_path, count=10_000, processes=4)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_index_of_100_000_documents_is_queried_by_ten_processes(tmp_path: Path):
    queried_by_all(tmp_path, count=100_000, processes=10)


@pytest.mark.parametrize("writers", [pytest.param(2, marks=pytest.mark.soak), 4])
def test_writers_at_once_lose_and_double_nothing(menu: Menu, writers: int):
    """Each indexes a file of its own and one that all share; they make index, cache and traces together."""
    program = """
import asyncio, sys
from app import index_menu, ai
async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    await asyncio.gather(index_menu(sys.argv[1]), index_menu("shared.txt"))
    await ai.aclose()
asyncio.run(main())
"""
    menu.write("script.py", program)
    menu.write("shared.txt", "".join(f"dish{n:05d} shared\n" for n in range(60)))
    env = {**menu.cached, "FLOWKIT_TRACES": "1", "EMBED_SECONDS": "0.005"}
    processes = []
    for number in range(writers):
        first = 1000 * (number + 1)
        menu.write(f"own{number}.txt", "".join(f"dish{n:05d} own\n" for n in range(first, first + 60)))
        processes.append(menu.script("script.py", f"own{number}.txt", env=env))
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        assert process.communicate(timeout=60) == ("", None)
        assert process.returncode == 0

    own = [n for number in range(writers) for n in range(1000 * (number + 1), 1000 * (number + 1) + 60)]
    assert menu.indexed() == [*range(60), *own]
    items = TraceStore(menu.folder / ".flowkit" / "traces.db").list().items
    assert [item.status for item in items] == ["success"] * 2 * writers


@pytest.mark.soak
def test_two_commands_at_once_on_one_index(menu: Menu):
    menu.lines(100)
    runs = [menu.start("flow:run", "indexMenu", '"menu.txt"') for _ in range(2)]
    outs = [run.communicate(timeout=60)[0] for run in runs]

    assert [run.returncode for run in runs] == [0, 0]
    assert all(0 <= int(out) <= 100 for out in outs)
    assert menu.indexed() == list(range(100))
