"""Whatever is edited, moved, broken or run at once: after a run that succeeds, an index holds what its sources hold."""

import asyncio
import contextlib
from collections import Counter
from pathlib import Path
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from flowkit import Document, Flowkit
from flowkit.errors import BackendError
from flowkit.rag.stores.memory import InMemoryStore
from tests.rag.ingest.conftest import Counting, app, doc, lines

SOURCES = ["a.md", "b.md", "c/d.md", "e.md"]
World = dict[str, list[str]]

sentence = st.sampled_from(["soup", "bread", "rice", "plums", "salt", "tea"])
texts_of_a_source = st.lists(sentence, max_size=6)
edit = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(SOURCES), texts_of_a_source),
    st.tuples(st.just("remove"), st.sampled_from(SOURCES), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(SOURCES), st.sampled_from(SOURCES)),
    st.tuples(st.just("fail"), st.integers(0, 3), st.none()),
    st.tuples(st.just("cancel"), st.integers(0, 3), st.none()),
    st.tuples(st.just("twice"), st.sampled_from(["source", "full"]), st.none()),
    st.tuples(st.just("append"), st.none(), st.none()),
    st.tuples(st.just("sync"), st.sampled_from(["source", "full"]), st.booleans()),
)


def documents(world: World) -> list[Document]:
    return [doc("\n".join(texts), source) for source, texts in world.items() if texts]


async def contents(store: InMemoryStore) -> Counter[tuple[str | None, str]]:
    page = await store.fetch(limit=1000)
    return Counter((row.document.source, row.document.text) for row in page.items)


def wanted(world: World) -> Counter[tuple[str | None, str]]:
    return Counter((source, text) for source, texts in world.items() for text in texts)


class Case:
    """A world, an index, and what the user does to them."""

    def __init__(self, ai: Flowkit, store: InMemoryStore, counting: Counting) -> None:
        self.ai, self.store, self.counting = ai, store, counting
        self.world: World = {}

    async def ingest(self, sync: Literal["append", "source", "full"], *, planned: bool = False) -> None:
        agree = (lambda plan: True) if planned else None
        await self.ai.ingest("docs", documents(self.world), splitter=lines, sync=sync, allow_empty=True, on_plan=agree)

    async def do(self, what: str, one: object, two: object) -> None:
        match what:
            case "write":
                self.world[str(one)] = list(two) if isinstance(two, list) else []
            case "remove":
                self.world.pop(str(one), None)
            case "rename":
                if str(one) in self.world:
                    self.world[str(two)] = self.world.pop(str(one))
            case "fail":
                self.counting.fail_after = self.counting.calls + int(str(one))
                with contextlib.suppress(BackendError):
                    await self.ingest("full")
                self.counting.fail_after = None
            case "cancel":
                run = asyncio.create_task(self.ingest("full"))
                for _ in range(int(str(one)) * 7):
                    await asyncio.sleep(0)
                run.cancel()
                await asyncio.wait([run])
            case "append":
                await self.ingest("append")
                assert wanted(self.world) <= await contents(self.store)
            case "twice":
                await asyncio.gather(*(self.ingest("full" if one == "full" else "source") for _ in range(2)))
                self.check(await contents(self.store), str(one))
            case _:
                await self.ingest("full" if one == "full" else "source", planned=bool(two))
                self.check(await contents(self.store), str(one))

    def check(self, found: Counter[tuple[str | None, str]], sync: str) -> None:
        if sync == "full":
            assert found == wanted(self.world)
        else:
            there = {source for source, texts in self.world.items() if texts}
            assert Counter({key: number for key, number in found.items() if key[0] in there}) == wanted(self.world)


@settings(max_examples=80)
@given(edits=st.lists(edit, max_size=12))
def test_an_index_follows_its_sources(edits, tmp_path_factory):
    async def run(root: Path) -> None:
        counting = Counting()
        store = InMemoryStore("docs", embedder="counting")
        async with app(store, counting, root, batch=2) as ai:
            await store.open(create=True)
            case = Case(ai, store, counting)
            for each in edits:
                await case.do(*each)
            await case.ingest("full")
            assert await contents(store) == wanted(case.world)
            counting.texts.clear()
            again = await ai.ingest("docs", documents(case.world), splitter=lines, sync="full", allow_empty=True)
            assert (again.written, again.updated, again.deleted, counting.texts) == (0, 0, 0, [])

    asyncio.run(run(tmp_path_factory.getbasetemp()))
