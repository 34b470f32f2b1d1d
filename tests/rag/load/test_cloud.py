"""Objects in clouds as documents, each cloud by its emulator: the same of all of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from flowkit import Document, Flowkit
from flowkit.config import Settings
from flowkit.errors import BackendError, ConfigError, FlowkitError, InvalidInputError, NotFoundError
from flowkit.rag import load
from flowkit.rag.stores.memory import InMemoryStore
from flowkit.testing import FakeEmbedder
from tests.rag.parse.papers import paper
from tests.servers.clouds import Bucket, amazon, azure, google

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.requires("cloud", "clouds are emulated by packages of the dev group"),
    pytest.mark.timeout(60),
]

OBJECTS = {
    "docs/b.md": b"B.",
    "docs/a.md": b"# A",
    "docs/deep/c, d + e.txt": "Crème.".encode(),
    "docs/menu.pdf": paper("Soup is 3.50"),
    "docs/photo.png": b"\x89PNG",
    "docs/empty.md": b"\n",  # the emulator of Google takes no objects without a byte
    "docs-old/x.md": b"X.",
}


AZURE = pytest.param(azure, id="az", marks=pytest.mark.soak)  # its emulator takes most of a minute to install


@pytest.fixture(scope="module", params=[pytest.param(amazon, id="s3"), pytest.param(google, id="gs"), AZURE])
def bucket(request: pytest.FixtureRequest) -> Iterator[Bucket]:
    start: Callable[[], AbstractContextManager[Bucket]] = request.param
    with start() as bucket:
        for name, data in OBJECTS.items():
            bucket.put(name, data)
        yield bucket


def at(bucket: Bucket, prefix: str, **options: Any) -> load.Cloud:
    return load.cloud(f"{bucket.address}/{prefix}", **bucket.settings, **options)


async def items(loader: load.Loader) -> list[Document | load.Skipped]:
    return [item async for item in loader]


async def names(loader: load.Loader) -> list[str]:
    return [str(item.source).partition("://bistro/")[2] for item in await items(loader) if isinstance(item, Document)]


async def test_what_is_under_a_prefix_is_loaded_in_the_order_of_names(bucket: Bucket):
    found = await items(at(bucket, "docs/"))

    told = {item.source.rpartition("/")[2]: item.reason for item in found if isinstance(item, load.Skipped)}
    documents = [item for item in found if isinstance(item, Document)]
    assert [str(item.source) for item in documents] == [
        f"{bucket.address}/docs/{name}" for name in ("a.md", "b.md", "deep/c, d + e.txt", "menu.pdf")
    ]
    assert [item.text.strip() for item in documents] == ["# A", "B.", "Crème.", "Soup is 3.50"]
    assert documents[3].metadata["pages"] == 1
    assert str(documents[0].metadata["modified"]).startswith("20")
    assert set(told) == {"photo.png", "empty.md"}
    assert told["photo.png"] == "no text format"


async def test_patterns_and_depth_choose_as_in_a_folder(bucket: Bucket):
    assert await names(at(bucket, "docs", glob="*.md")) == ["docs/a.md", "docs/b.md"]
    assert await names(at(bucket, "docs", glob=["**", "!*.*"])) == ["docs/deep/c, d + e.txt"]
    assert await names(at(bucket, "docs", recursive=False, glob="*.txt")) == []
    assert (await names(at(bucket, "", glob="docs*/*.md"))) == ["docs/a.md", "docs/b.md", "docs-old/x.md"]


async def test_one_object_may_be_loaded_alone(bucket: Bucket):
    assert await names(at(bucket, "docs/a.md")) == ["docs/a.md"]


async def test_an_object_that_is_too_large_is_told(bucket: Bucket):
    found = await items(at(bucket, "docs/", glob="*.pdf", max_size_bytes=100))

    assert isinstance(found[0], load.Skipped)
    assert "is the limit" in found[0].reason


async def test_what_is_not_there_is_an_error(bucket: Bucket):
    with pytest.raises((NotFoundError, BackendError)) as raised:
        await items(at(bucket, "nothing/"))
    assert "nothing" in raised.value.message
    with pytest.raises(FlowkitError):
        await items(load.cloud(f"{bucket.address}-no/x", **bucket.settings))


async def test_an_index_is_kept_in_step_with_a_bucket(bucket: Bucket, tmp_path: Path):
    store = InMemoryStore("docs", embedder="fake-embedder")
    bucket.put("sync/a.md", b"A.")
    bucket.put("sync/b.md", b"B.")
    async with Flowkit(plugins=[store, FakeEmbedder(16)], settings=Settings(root=tmp_path)) as ai:
        first = await ai.ingest("docs", at(bucket, "sync"), sync="full")
        await ai.ingest("docs", Document.from_text("Other.", {"source": "local.md"}))
        again = await ai.ingest("docs", at(bucket, "sync"), sync="full")
        bucket.delete("sync/b.md")
        after = await ai.ingest("docs", at(bucket, "sync"), sync="full")
        left = (await store.stats()).count

    assert (first.written, again.written, again.deleted, again.unchanged) == (2, 0, 0, 2)
    assert (after.deleted, after.sources.removed) == (1, 1)
    assert left == 2


@pytest.mark.parametrize("address", ["s3://", "s3:///x", "ftp://x/y", "bucket/docs"])
def test_what_is_no_address_is_said_at_once(address: str):
    with pytest.raises(InvalidInputError, match="is no address in a cloud"):
        load.cloud(address)


NOBODY = "http://127.0.0.1:9"
UNREACHABLE: dict[str, dict[str, Any]] = {
    "s3://bistro/docs": {"endpoint_url": NOBODY, "options": {"key": "k", "secret": "s"}},
    "gs://bistro/docs": {"endpoint_url": NOBODY},
    "az://bistro/docs": {
        "options": {
            "connection_string": "DefaultEndpointsProtocol=http;AccountName=bistro;AccountKey=c2VjcmV0;"
            f"BlobEndpoint={NOBODY}/bistro;"
        }
    },
}


@pytest.mark.parametrize("address", UNREACHABLE)
async def test_a_store_that_cannot_be_reached_is_told_soon_and_in_one_line(
    address: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    began = time.monotonic()
    with pytest.raises(BackendError, match=f"'{address}' cannot be reached: 127.0.0.1: Connection refused") as raised:
        await items(load.cloud(address, **UNREACHABLE[address]))

    assert time.monotonic() - began < 15
    assert "\n" not in str(raised.value)
    assert raised.value.hint
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


async def test_a_store_behind_a_proxy_is_left_to_its_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", NOBODY)
    away = load.cloud("s3://bistro/docs", endpoint_url="http://bucket.test", options={"key": "k", "secret": "s"})

    with pytest.raises(BackendError, match=r"'s3://bistro/docs' cannot be read: .*proxy"):
        await items(away)


async def test_options_that_make_no_store_are_told_in_one_line():
    away = load.cloud("s3://bistro/docs", options={"profile": "nobody"})

    with pytest.raises(ConfigError, match=r"'s3://bistro/docs' cannot be opened: .*nobody") as raised:
        await items(away)
    assert "\n" not in str(raised.value)
