"""The menu sample answers from the menu, and says so when it cannot."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.modules import ROOT

MENU = ROOT / "samples" / "menu"
INDEXING = "Three menus: pages are read, cut into chunks, and embedded on this machine"


@pytest.fixture
def menu(tmp_path: Path) -> Path:
    """The sample in a folder of its own, so that its index is written there."""
    return Path(shutil.copytree(MENU, tmp_path / "menu", ignore=shutil.ignore_patterns(".flowkit", "__pycache__")))


def run(menu: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(command, cwd=menu, env={**os.environ, "PATH": path}, capture_output=True, text=True)


def answers_of(shown: str) -> dict[str, str]:
    """What the demo shows under each heading, on one line."""
    blocks = (block.partition("\n") for block in shown.strip().split("\n\n"))
    return {heading: " ".join(text.split()) for heading, _, text in blocks}


@pytest.mark.heavy
def test_the_demo_answers_from_the_menus_and_embeds_once(menu: Path):
    first = run(menu, sys.executable, "demo.py")
    assert first.returncode == 0, first.stderr
    assert "\x1b" not in first.stdout
    shown = answers_of(first.stdout)
    assert shown[INDEXING].count("chunks embedded") == 3
    assert "The chocolate tart is vegan and costs 7.00 EUR" in shown["Which dessert is vegan?"]
    assert "dinner.pdf, page 3 score" in shown["Which dessert is vegan?"]
    assert "closed on Mondays" in shown["When is the restaurant closed?"]
    assert "unter der Telefonnummer 555 0188" in shown["Wo kann ich reservieren?"]
    assert "karte.pdf, page 5 score" in shown["Wo kann ich reservieren?"]
    steps = first.stdout.partition("step by step")[2]
    for step in ("menuQA", "├ devstore/menu", "│ └ local/all-minilm-l6-v2", "└ local/extractive"):
        assert f"\n{step} " in steps
    assert shown["Try next"].startswith(". .venv/bin/activate flowkit start ")

    again = answers_of(run(menu, sys.executable, "demo.py").stdout)
    assert again[INDEXING].count("nothing new, nothing embedded") == 3
    assert again["Wo kann ich reservieren?"] == shown["Wo kann ich reservieren?"]


@pytest.mark.heavy
@pytest.mark.skipif(sys.platform == "win32", reason="pipes end in another way there")
def test_the_demo_ends_quietly_when_its_reader_has_seen_enough(menu: Path):
    shell = f"{shlex.quote(sys.executable)} demo.py | head -n 2; exit ${{PIPESTATUS[0]}}"

    ran = run(menu, "bash", "-c", shell)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert INDEXING in ran.stdout


@pytest.mark.heavy
def test_what_the_menus_do_not_say_is_not_known(menu: Path):
    run(menu, "flowkit", "flow:run", "indexMenu", "dinner.pdf")

    answer = json.loads(run(menu, "flowkit", "flow:run", "menuQA", "How tall is the Eiffel Tower?").stdout)

    assert answer["text"].startswith("I don't know")
    assert answer["citations"] == []


@pytest.mark.heavy
def test_the_answer_is_streamed_before_its_sources(menu: Path):
    run(menu, "flowkit", "flow:run", "indexMenu", "dinner.pdf")

    shown = run(menu, "flowkit", "flow:run", "menuQA", "Which dessert is vegan?", "--stream").stdout

    text, _, result = shown.partition("\n{")
    answer = json.loads("{" + result)
    assert answer["text"] == text
    assert [source["page"] for source in answer["citations"]] == [3, 3]
    assert all(0 < source["score"] <= 1 for source in answer["citations"])


@pytest.mark.heavy
def test_no_sentence_of_the_menus_is_cut_in_two(menu: Path):
    run(menu, "flowkit", "flow:run", "indexMenu", "lunch.pdf")

    answer = json.loads(run(menu, "flowkit", "flow:run", "menuQA", "How much is the lunch deal?").stdout)

    assert "12.90 EUR" in answer["text"]
    assert all(source["quote"].endswith(".") for source in answer["citations"])


@pytest.mark.heavy
def test_indexing_again_writes_nothing(menu: Path):
    first = run(menu, "flowkit", "flow:run", "indexMenu", "karte.pdf")
    again = run(menu, "flowkit", "flow:run", "indexMenu", "karte.pdf")

    assert int(first.stdout) > 5, first.stderr
    assert again.stdout.strip() == "0"


@pytest.mark.heavy
def test_a_missing_menu_is_named(menu: Path):
    run_of_nothing = run(menu, "flowkit", "flow:run", "indexMenu", "nothing.pdf")

    assert run_of_nothing.returncode == 1
    assert "nothing.pdf" in run_of_nothing.stderr
