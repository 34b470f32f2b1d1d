"""`flowkit store:create`: the SQL of an index, read before it is run, or an index made by command."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.plugin import EmbeddedDocument
from flowkit_pgvector import PgVector, create_sql
from tests.plugins.pgvector.data import ask
from tests.support.modules import ROOT, plugin_packages

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Command = Callable[..., "subprocess.CompletedProcess[str]"]
APP = """
from flowkit import Flowkit
from flowkit_pgvector import PgVector, Table

menu = PgVector("menu", embedder="local/one", index=None, columns={"price": float})
ai = Flowkit(plugins=[menu, PgVector("wines", source=Table("wines"))])
"""


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Runs `flowkit …` in a project with an app."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "app.py").write_text(APP)
    path = [ROOT, *(package.parent for package in plugin_packages())]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "NO_COLOR": "1"}

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        line = [sys.executable, "-m", "flowkit", *arguments]
        return subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)

    return run


async def test_the_sql_that_is_printed_makes_the_index(
    command: Command, make_store: Callable[..., PgVector], dsn: str, index: str
):
    printed = command("store:create", f"pgvector/{index}", "--dimension", "2", "--embedder", "local/one", "--print-sql")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert printed.stdout == create_sql(index, dimension=2, embedder="local/one")

    await ask(dsn, printed.stdout)
    store = make_store(dsn=dsn)
    await store.open(create=False, dimension=2, embedder="local/one")
    await store.upsert([EmbeddedDocument(Document.from_text("tomato soup", id="a"), [1, 0])])
    await ask(dsn, printed.stdout)  # which is safe to run again
    assert (await store.stats()).count == 1


def test_the_sql_of_an_app_is_that_of_its_store(command: Command):
    printed = command("store:create", "pgvector/menu", "--app", "app.py", "--dimension", "3", "--print-sql")

    wanted = create_sql("menu", dimension=3, embedder="local/one", index=None, columns={"price": float})
    assert (printed.returncode, printed.stdout) == (0, wanted)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["chroma/menu", "--set", "path=data", "--dimension", "3"], "chroma/menu has no SQL to print"),
        (["devstore/menu", "--dimension", "3"], "devstore/menu has no SQL to print"),
        (["pgvector/menu"], "pass --dimension"),
        (["pgvector/menu", "--dimension", "20000"], "up to 16,000 dimensions"),
        (["pgvector/wines", "--app", "app.py", "--dimension", "3"], "not the plugin's, and makes none"),
        (["pgvector/menu", "--set", "mode=keywords"], "index 'menu' has no mode 'keywords'"),
    ],
)
def test_where_there_is_no_sql_that_is_said(command: Command, tmp_path: Path, arguments: list[str], told: str):
    printed = command("store:create", *arguments, "--print-sql")

    assert (printed.returncode, printed.stdout) == (2, "")
    assert told in printed.stderr
    assert not (tmp_path / "data").exists()


async def test_an_index_is_made_by_command_and_left_as_it_is_the_next_time(
    command: Command, make_store: Callable[..., PgVector], dsn: str, index: str
):
    arguments = ("store:create", f"pgvector/{index}", "--set", f"dsn={dsn}", "--dimension", "2")
    made = command(*arguments, "--embedder", "local/one")
    assert (made.returncode, made.stdout) == (0, f"✓ pgvector/{index} is there; it holds 0 documents\n")

    store = make_store()
    await store.open(create=False, dimension=2, embedder="local/one")
    await store.upsert([EmbeddedDocument(Document.from_text("tomato soup", id="a"), [1, 0])])
    again = command(*arguments)
    assert (again.returncode, again.stdout) == (0, f"✓ pgvector/{index} is there; it holds 1 document\n")
    refused = command(*arguments, "--embedder", "local/two")
    assert refused.returncode == 1
    assert "local/one" in refused.stderr
