"""Cutting a text before it is stored: chunks with spans and overlaps, files of the project only, and nothing hangs."""

import asyncio
import sys
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from flowkit import EmbedderInfo, Flowkit
from flowkit.rag import split
from flowkit.schema.documents import Document
from flowkit.server.dev import workbench
from tests.server.dev.conftest import Serve
from tests.server.dev_server import Browser
from tests.support.modules import ROOT

TEXT = "The soup is vegan. It costs 4 euros.\n\nThe salad has nuts. 🥗 It costs 6 euros.\n\n" * 4


async def preview(browser: Browser, **body: Any) -> Any:
    return await browser.post("/api/split-preview", body)


async def errors(browser: Browser, **body: Any) -> dict[str, str]:
    """Messages by field of a preview that is refused."""
    response = await browser.http.post("/api/split-preview", json=body)
    assert response.status_code == 400, response.text
    return {each["path"]: each["message"] for each in response.json()["error"]["details"]["errors"]}


async def test_every_splitter_is_listed_with_a_form_and_cuts_with_its_defaults(browser: Browser):
    splitters = (await browser.get("/api/splitters"))["splitters"]

    assert splitters[0]["name"] == "auto"
    assert {each["name"] for each in splitters} == set(split.__all__) - {
        "OffsetTokenizer",
        "Piece",
        "SentenceDetector",
        "Splitter",
        "Tokenizer",
        "sentences",
    }
    for each in splitters:
        Draft202012Validator.check_schema(each["settings"])
        assert each["description"]
        given = {"pattern": r"\n\n"} if each["name"] == "regex" else {}
        told = await preview(browser, text=TEXT, splitter=each["name"], settings=given)
        assert told["chunks"], each["name"]


async def test_chunks_are_those_of_the_splitter_with_spans_and_overlaps_in_the_text(browser: Browser):
    told = await preview(browser, text=TEXT, splitter="exact", settings={"maxChars": 50, "overlapChars": 10})

    expected = split.exact(max_chars=50, overlap_chars=10)(Document.from_text(TEXT))
    assert [chunk["text"] for chunk in told["chunks"]] == [chunk.text for chunk in expected]
    assert told["text"] == TEXT
    assert told["total"] == len(expected)
    before = None
    for number, chunk in enumerate(told["chunks"]):
        assert chunk["index"] == number
        assert TEXT[chunk["start"] : chunk["end"]] == chunk["text"]
        assert chunk["chars"] == len(chunk["text"]) <= 50
        assert chunk["metadata"]["content_hash"]
        if before is not None:
            assert chunk["overlap"]["chars"] == before["end"] - chunk["start"] == 10
            assert chunk["overlap"]["tokens"] > 0
        before = chunk
    assert "overlap" not in told["chunks"][0]


async def test_without_settings_chunks_have_at_most_300_estimated_tokens(browser: Browser):
    told = await preview(browser, text=TEXT * 10, splitter="prose")

    assert told["countedBy"] == "estimate"
    assert all(chunk["tokens"] <= 300 for chunk in told["chunks"])
    assert told["tokens"] > 300


async def test_a_text_is_cut_as_its_name_says(browser: Browser):
    told = await preview(browser, text="# Menu\n\nSoup.\n\n# Wine\n\nRed.", source="menu.md")

    assert [chunk["metadata"]["heading"] for chunk in told["chunks"]] == ["Menu", "Wine"]


async def test_with_an_embedder_its_own_tokens_and_limit_count(browser: Browser, ai: Flowkit, serve: Serve):
    class Words:
        name = "words"

        def tokenizer(self, embedder: str) -> Any:
            return lambda text: len(text.split())

        async def setup(self, registry: Any) -> None: ...

        async def resolve(self, kind: str, name: str) -> None: ...

        def list(self) -> list[Any]:
            return []

        async def aclose(self) -> None: ...

    ai.registry.add_plugin(Words())

    @ai.embedder("words/bag", info=EmbedderInfo(label="Bag", dimensions=1, max_input_tokens=10))
    async def bag(texts: list[str]):
        return [[1.0] for _ in texts]

    serve(ai)
    (browser.dev.root / "menu.txt").write_text(TEXT)

    for what in ({"text": TEXT}, {"path": "menu.txt"}):
        told = await preview(browser, **what, embedder="words/bag")
        assert told["countedBy"] == "words/bag"
        assert told["tokens"] == len(TEXT.split())
        assert [chunk["tokens"] for chunk in told["chunks"]] == [len(c["text"].split()) for c in told["chunks"]]
        assert max(chunk["tokens"] for chunk in told["chunks"]) <= 10
    unknown = await browser.http.post("/api/split-preview", json={"text": TEXT, "embedder": "words/none"})
    assert unknown.status_code == 404


async def test_bad_settings_name_their_fields(browser: Browser):
    given = {
        "maxTokens": ({"maxTokens": 0}, "greater than or equal to 1"),
        "overlapChars": ({"maxChars": 10, "overlapChars": 10}, "0…9"),
        "maxChars": ({"maxChars": 10, "maxTokens": 10}, "not in both"),
        "overlapTokens": ({"maxChars": 10, "overlapTokens": 2}, "characters"),
        "colour": ({"colour": "red"}, "not permitted"),
    }
    for field, (settings, said) in given.items():
        found = await errors(browser, text=TEXT, splitter="exact", settings=settings)
        assert list(found) == [f"settings.{field}"]
        assert said in found[f"settings.{field}"]
    assert "settings.pattern" in await errors(browser, text=TEXT, splitter="regex", settings={"pattern": "("})
    assert "settings.pattern" in await errors(browser, text=TEXT, splitter="regex")
    assert "settings.delimiters" in await errors(browser, text=TEXT, splitter="chunk", settings={"delimiters": "("})
    assert "settings.language" in await errors(browser, text=TEXT, splitter="code", settings={"language": "klingon"})
    assert (await browser.http.post("/api/split-preview", json={"text": "x", "splitter": "no"})).status_code == 404
    for body in ({}, {"text": "x", "path": "y"}, {"text": ""}, {"text": "x" * 1_000_001}):
        assert (await browser.http.post("/api/split-preview", json=body)).status_code == 400


async def test_a_file_of_the_project_or_an_upload_is_read_as_an_ingest_reads_it(browser: Browser):
    menu = (ROOT / "samples" / "menu" / "lunch.pdf").read_bytes()
    (browser.dev.root / "menus").mkdir()
    (browser.dev.root / "menus" / "lunch.pdf").write_bytes(menu)
    upload = (await browser.http.post("/api/uploads", files={"file": ("lunch.pdf", menu)})).json()

    for path in ("menus/lunch.pdf", str(browser.dev.root / "menus" / "lunch.pdf"), upload["path"]):
        told = await preview(browser, path=path, settings={"maxTokens": 40})
        assert told["source"] in ("menus/lunch.pdf", upload["path"])
        assert told["chunks"][0]["metadata"]["page"] == 1
        assert told["chunks"][0]["metadata"]["source"] == told["source"]


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/hostname", "link.txt", "folder/x.txt", ".env", ".git/config", ".flowkit/traces.db"]
)
async def test_a_file_elsewhere_and_a_hidden_one_are_not_read(browser: Browser, path: str):
    root = browser.dev.root
    outside = root.parent / "secret.txt"
    outside.write_text("secret")
    (root / "link.txt").symlink_to(outside)
    (root / "folder").symlink_to(root.parent)
    (root / ".git").mkdir()
    for name in (".env", ".git/config"):
        (root / name).write_text("secret")
    (root.parent / "x.txt").write_text("secret")

    response = await browser.http.post("/api/split-preview", json={"path": path})

    assert response.status_code == 404
    assert "secret" not in response.text.replace("../secret.txt", "")


async def test_a_broken_file_says_so(browser: Browser):
    (browser.dev.root / "bad.pdf").write_bytes(b"%PDF-1.7 nothing")

    response = await browser.http.post("/api/split-preview", json={"path": "bad.pdf"})

    assert response.status_code == 400
    assert "bad.pdf" in response.json()["error"]["message"]


async def test_a_regular_expression_without_end_is_ended_and_others_are_answered_meanwhile(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(workbench, "SECONDS", -1)
    endless = {"text": "a" * 40 + "!", "splitter": "regex", "settings": {"pattern": "(a+)+$"}}

    hung = asyncio.ensure_future(browser.http.post("/api/split-preview", json=endless))
    await browser.get("/api/settings")
    response = await hung

    assert response.status_code == 504
    assert "regular expression" in response.json()["error"]["details"]["hint"]
    monkeypatch.undo()
    assert (await preview(browser, text=TEXT))["chunks"]


async def test_the_process_ends_by_itself_when_a_request_takes_too_long():
    """Also when the dev server is killed: nothing is left that computes for ever."""
    endless = (
        '{"document":{"content":[{"text":"' + "a" * 40 + '!"}]},"splitter":"regex","settings":{"pattern":"(a+)+$"}}'
    )
    program = "from flowkit.server.preview import worker; worker.SECONDS = 1; worker.main()"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(20):
        out, _ = await process.communicate(endless.encode() + b"\n")

    assert out == b""
    assert process.returncode != 0


async def test_a_page_that_leaves_stops_the_work(browser: Browser):
    endless = {"text": "a" * 40 + "!", "splitter": "regex", "settings": {"pattern": "(a+)+$"}}
    await preview(browser, text=TEXT)
    bench = browser.dev.workbench
    process = bench._process
    assert process is not None

    work = asyncio.ensure_future(
        bench.do(
            {"document": {"content": [{"text": endless["text"]}]}, "splitter": "regex", "settings": endless["settings"]}
        )
    )
    await asyncio.sleep(0.1)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)

    assert await process.wait() != 0
