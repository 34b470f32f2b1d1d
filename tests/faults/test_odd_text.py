"""Lone surrogates, NULs and control characters wherever text goes in: nothing breaks, and what can be kept is."""

import sys

import pytest

from flowkit import Document, F, Flowkit
from flowkit.config import Settings
from flowkit.errors import FlowkitError, InvalidInputError
from flowkit.testing import FakeEmbedder
from flowkit.tracing.store import TraceStore
from flowkit_devstore import DevStore
from tests.faults.conftest import Menu

ODD = [
    "a\ud800b",
    "a\udfffb",
    "a\x00b",
    "\ud83d",
    "\x00 x",
    "x\x1b[2Jy",
    "\ufffe\uffff",
    "e\u0301\u200b\u2028",
    "\udc80.txt",
]


@pytest.fixture
async def ai(tmp_path):
    settings = Settings(traces=True, root=tmp_path)
    app = Flowkit(
        plugins=[FakeEmbedder(dimension=16), DevStore("menu", embedder="fake-embedder", folder=tmp_path)],
        settings=settings,
    )
    yield app
    await app.aclose()


@pytest.mark.parametrize("odd", ODD, ids=ascii)
async def test_documents_metadata_ids_and_queries(ai: Flowkit, odd: str):
    documents = [
        Document.from_text(f"soup {odd} of the day", {"source": odd, "note": odd, f"key{odd}": [odd, {odd: odd}]}),
        Document.from_text("bread", {"source": "menu"}, id=f"id {odd}"),
    ]
    report = await ai.index("menu", documents)
    again = await ai.index("menu", documents)

    assert (report.written, again.written, again.updated) == (2, 0, 0)
    assert again.ids == report.ids
    found = await ai.retrieve("menu", f"soup {odd} of the day", k=2)
    assert len(found) == 2
    assert found[0].text.startswith("soup ")
    note = found[0].metadata["note"]
    assert isinstance(note, str)
    note.encode()
    for mode in ("vector", "keyword", "hybrid"):
        assert await ai.retrieve("menu", f"soup {odd}", k=2, options={"mode": mode})
    (same,) = await ai.retrieve("menu", "soup", k=2, where=F("note") == note)
    assert same.text == found[0].text
    assert len(await ai.retrieve("menu", "soup", k=2, where=F("note") == odd)) <= 1
    assert await ai.stores["devstore/menu"].delete(ids=list(report.ids)) == 2


@pytest.mark.parametrize("odd", ODD, ids=ascii)
async def test_inputs_outputs_steps_and_errors_of_flows(ai: Flowkit, odd: str):
    @ai.flow
    async def hand_on(value: dict) -> dict:
        await ai.run(f"step {odd}", lambda: odd)
        return {"back": value["text"], odd: 1}

    @ai.flow
    async def fail(text: str) -> str:
        raise ValueError(f"cannot cook {text}")

    assert await hand_on({"text": odd}) == {"back": odd, odd: 1}
    with pytest.raises(ValueError, match="cannot cook"):
        await fail(odd)
    sink = ai.runtime.tracing.sink
    assert sink is not None
    assert sink.flush()
    assert sink.lost == 0
    page = sink.store.list()
    assert ([item.status for item in page.items], page.skipped) == (["error", "success"], 0)
    assert sink.store.get(page.items[1].trace_id).skipped == 0
    assert len(sink.store.list(text="cannot cook").items) == 1
    sink.store.list(text=odd)
    sink.store.list(action=odd)


@pytest.mark.parametrize("odd", ODD, ids=ascii)
async def test_names(ai: Flowkit, odd: str, tmp_path):
    """A name that cannot be is refused where it is given; others work."""
    for name in (odd, f"x{odd}"):
        try:
            store = DevStore(name, folder=tmp_path)
            await store.open(create=True)
            await store.aclose()
        except InvalidInputError:
            continue
    with pytest.raises(FlowkitError) as caught:
        await ai.retrieve(f"men{odd}", "soup")
    str(caught.value).encode("utf-8", "replace")


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform != "linux", reason="arguments are bytes on Linux")
def test_arguments_that_are_no_text(menu: Menu):
    """Bytes that are not UTF-8 reach Python as lone surrogates."""
    odd = "caf\udce9"
    said = menu.process("flow:run", "say", odd)
    assert (said.code, said.out) in [(0, "caf?\n"), (0, "caf\ufffd\n")]
    assert menu.process("flow:run", "say", '"a\\ud800b \\u0000"').code == 0
    for arguments in (
        ("flow:run", odd),
        ("flow:run", "say", "x", "--output", f"{odd}/x.json"),
        ("flow:run", "say", f"@{odd}"),
        ("flow:run", "say", "x", "--context", f'{{"{odd}": 1}}'),
        ("flow:run", "say", "x", "--app", odd),
        ("trace:get", odd),
        ("trace:list", "--name", odd),
        (odd,),
    ):
        run = menu.run(*arguments)
        assert run.code in (0, 2), arguments
        assert "Traceback" not in run.err
    output = menu.process("flow:run", "say", "x", "--output", f"{odd}.json")
    assert output.code == 0
    traces = TraceStore(menu.folder / ".flowkit" / "traces.db").list()
    assert traces.skipped == 0
