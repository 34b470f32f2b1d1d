"""One line is changed in the menu sample, its store, and everything answers the same: flows, rag:index, rag:ask."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.conftest import Project
from tests.conftest import require
from tests.servers.postgres import Postgres
from tests.support.modules import ROOT

pytestmark = pytest.mark.heavy

SAMPLE = (ROOT / "samples" / "menu" / "app.py").read_text(encoding="utf-8")
DEVSTORE = 'DevStore("menu", embedder='
NOTE = "# House rules\n\nDogs are welcome on the terrace.\n\nThe kitchen closes at ten in the evening.\n"


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    require("pg", "the sample runs on a real Postgres")
    if "FLOWKIT_TEST_PG_DSN" in os.environ:
        yield os.environ["FLOWKIT_TEST_PG_DSN"]
        return
    with Postgres.started() as server:
        yield server.dsn


def answers(project: Project, store: str, module: str, name: str) -> dict[str, Any]:
    """What the sample says with that store."""
    assert SAMPLE.count(DEVSTORE) == 1
    app = SAMPLE.replace(DEVSTORE, f"{store}, embedder=").replace(
        "from flowkit_devstore import DevStore", f"from {module} import {name}"
    )
    project.write("menu_app.py", app)
    project.write("rules.md", NOTE)
    project.write("dinner.pdf", (ROOT / "samples" / "menu" / "dinner.pdf").read_bytes())
    told: dict[str, Any] = {}

    def run(*arguments: str) -> str:
        found = project.run(*arguments, "--app", "menu_app.py")
        assert found.code == 0, found.err
        return found.out

    told["written"] = json.loads(run("flow:run", "indexMenu", "dinner.pdf"))
    told["again"] = json.loads(run("flow:run", "indexMenu", "dinner.pdf"))
    told["dessert"] = json.loads(run("flow:run", "menuQA", "Which dessert is vegan?"))
    told["tower"] = json.loads(run("flow:run", "menuQA", "How tall is the Eiffel Tower?"))
    indexed = json.loads(run("rag:index", "rules.md", "--json"))
    told["indexed"] = {key: indexed[key] for key in ("written", "updated", "deleted", "unchanged")}
    asked = json.loads(run("rag:ask", "When does the kitchen close?", "--where", "source = 'rules.md'", "--json"))
    told["asked"] = without_trace(asked)
    project.write("rules.md", NOTE.replace("ten", "eleven"))
    changed = json.loads(run("rag:index", "rules.md", "--json"))
    told["changed"] = {key: changed[key] for key in ("written", "deleted")}
    told["asked again"] = without_trace(json.loads(run("rag:ask", "When does the kitchen close?", "--json")))
    return told


def without_trace(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "traceId"}


def test_the_menu_sample_answers_the_same_from_every_store(project: Project, dsn: str):
    index = f"menu_{os.getpid()}"

    kept = answers(project, 'DevStore("menu"', "flowkit_devstore", "DevStore")
    postgres = answers(project, f'PgVector("menu", schema={index!r}, dsn={dsn!r}', "flowkit_pgvector", "PgVector")
    chroma = answers(project, 'Chroma("menu", path="chroma-data"', "flowkit_chroma", "Chroma")

    assert kept["written"] > 5
    assert kept["again"] == 0
    assert "chocolate tart" in kept["dessert"]["text"]
    assert "ten in the evening" in json.dumps(kept["asked"])
    assert "eleven in the evening" in json.dumps(kept["asked again"])
    assert postgres == kept
    assert chroma == kept
