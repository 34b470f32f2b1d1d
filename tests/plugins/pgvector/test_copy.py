"""Moving an index between the stores as they are: dev store → Postgres → Chroma, by command, also after a kill."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flowkit import Document
from flowkit.errors import NotFoundError
from flowkit.plugin import EmbeddedDocument, SearchQuery, VectorStore
from flowkit.rag import copy_index
from flowkit_chroma import Chroma
from flowkit_devstore import DevStore
from flowkit_pgvector import PgVector
from tests.support.modules import ROOT, plugin_packages

EMBEDDER = "local/all-minilm-l6-v2"
MakeStore = Callable[..., PgVector]


def rows(count: int) -> list[EmbeddedDocument]:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(count, 16)).astype(np.float32)
    return [
        EmbeddedDocument(
            Document.from_text(
                f"dish {n} 日本", {"price": n, "tags": ["hot", {"n": n}], "source": f"{n % 7}.txt"}
            ).with_id(f"dish-{n:06}"),
            vectors[n],
        )
        for n in range(count)
    ]


async def documents(store: VectorStore) -> list[Document]:
    return [row.document for row in (await store.fetch(limit=20_000)).items]


async def built(folder: Path, count: int) -> DevStore:
    store = DevStore("menu", folder=folder / ".flowkit" / "indexes")
    await store.open(create=True, dimension=16, embedder=EMBEDDER)
    await store.upsert(rows(count))
    return store


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts `flowkit …` in a project; what still runs ends with the test."""
    (tmp_path / "pyproject.toml").touch()
    path = [ROOT, *(package.parent for package in plugin_packages())]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "NO_COLOR": "1"}
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "flowkit", *arguments],
            cwd=tmp_path,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


async def test_an_index_goes_to_postgres_to_chroma_and_back(make_store: MakeStore, tmp_path: Path):
    first = await built(tmp_path, 700)
    second, third, last = make_store(), Chroma("menu", path=tmp_path / "chroma"), DevStore("again", folder=tmp_path)
    query = SearchQuery(vector=rows(5)[4].vector, k=10)

    reports = [await copy_index(a, b) for a, b in ((first, second), (second, third), (third, last))]

    assert [(report.copied, report.count, report.embedder) for report in reports] == [(700, 700, EMBEDDER)] * 3
    wanted = await documents(first)
    hits = [hit.id for hit in await first.search(query)]
    for store in (second, third, last):
        assert await documents(store) == wanted
        assert [hit.id for hit in await store.search(query)] == hits
    for store in (first, third, last):
        await store.aclose()


async def test_a_killed_copy_goes_on_where_it_was(
    make_store: MakeStore, dsn: str, index: str, tmp_path: Path, command: Callable[..., "subprocess.Popen[str]"]
):
    source = await built(tmp_path, 3_000)
    arguments = ("store:copy", "devstore/menu", f"pgvector/{index}", "--to", f"dsn={dsn}", "--json")
    target = make_store()

    killed = command(*arguments)
    while await count(target) == 0:
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    left = await count(target)
    report = told(command(*arguments))

    assert 0 < left < 3_000
    assert report["unchanged"] == left
    assert report["copied"] == 3_000 - left
    assert report["count"] == await count(target) == 3_000
    assert await documents(target) == await documents(source)
    await source.aclose()


async def test_the_command_says_what_it_did_and_refuses_what_does_not_fit(
    make_store: MakeStore, dsn: str, index: str, tmp_path: Path, command: Callable[..., "subprocess.Popen[str]"]
):
    source = await built(tmp_path, 3)
    to = ("--to", f"dsn={dsn}")

    copied, error = command("store:copy", "devstore/menu", f"pgvector/{index}", *to).communicate()
    again, _ = command("store:copy", "devstore/menu", f"pgvector/{index}", *to).communicate()
    other = make_store(f"{index}_other")
    await other.open(create=True, dimension=3, embedder=EMBEDDER)
    refused = command("store:copy", "devstore/menu", f"pgvector/{index}_other", *to)
    _, why = refused.communicate()

    assert copied == f"✓ pgvector/{index}: 3 copied; it holds 3\n", error
    assert again == f"✓ pgvector/{index}: 3 were there; it holds 3\n"
    assert refused.returncode != 0
    assert f"pgvector/{index}_other was built with dimension 3, devstore/menu with 16" in why
    await source.aclose()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["menu", "pgvector/menu"], "'menu' is no store and index"),
        (["devstore/menu", "qdrant/menu"], "no store 'qdrant' is installed"),
        (["devstore/menu", "pgvector/menu", "--to", "host=x"], "pgvector has no option 'host'"),
        (["devstore/menu", "pgvector/menu", "--to", "dsn"], "'dsn' is no option"),
        (["devstore/menu", "pgvector/menu", "--to", "ef_search=many"], "it is a number"),
        (["devstore/menu", "pgvector/menu", "--to", "prepared=no"], "it is true or false"),
        (["devstore/menu", "pgvector/menu", "--overwrite", "--add"], "exclude each other"),
        (["devstore/nothing", "chroma/menu", "--to", "path=data"], "there is no index 'nothing'"),
        (["devstore/menu", "devstore/menu"], "cannot be copied into itself"),
    ],
)
def test_wrong_usage_is_said(command: Callable[..., "subprocess.Popen[str]"], arguments: list[str], text: str):
    process = command("store:copy", *arguments)
    _, error = process.communicate()

    assert process.returncode in (1, 2)
    assert text in error
    assert "Traceback" not in error


async def test_stores_of_an_app_are_copied_by_their_names(
    dsn: str, index: str, tmp_path: Path, command: Callable[..., "subprocess.Popen[str]"]
):
    await (await built(tmp_path, 3)).aclose()
    app = f"""
from flowkit import Flowkit
from flowkit_devstore import DevStore
from flowkit_pgvector import PgVector

ai = Flowkit(plugins=[DevStore("menu"), PgVector({index!r}, dsn={dsn!r}, embedder={EMBEDDER!r})])
"""
    (tmp_path / "app.py").write_text(app, encoding="utf-8")

    report = told(command("store:copy", "devstore/menu", f"pgvector/{index}", "--app", "app.py", "--json"))

    assert report == {"copied": 3, "unchanged": 0, "deleted": 0, "count": 3, "dimension": 16, "embedder": EMBEDDER}


def told(process: "subprocess.Popen[str]") -> Any:
    out, error = process.communicate()
    assert process.returncode == 0, error
    return json.loads(out)


async def count(store: PgVector) -> int:
    try:
        await store.open(create=False)
        return (await store.stats()).count
    except NotFoundError:
        return 0
