"""The menu sample answers from the menu, and says so when it cannot."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.modules import ROOT

MENU = ROOT / "samples" / "menu"


@pytest.fixture
def menu(tmp_path: Path) -> Path:
    """The sample in a folder of its own, so that its index is written there."""
    return Path(shutil.copytree(MENU, tmp_path / "menu", ignore=shutil.ignore_patterns(".flowkit", "__pycache__")))


def run(menu: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(command, cwd=menu, env={**os.environ, "PATH": path}, capture_output=True, text=True)


@pytest.mark.heavy
def test_the_demo_answers_from_the_menu(menu: Path):
    demo = run(menu, "sh", "demo.sh")

    assert demo.returncode == 0, demo.stderr
    answers = {
        block.partition('"\n')[0]: " ".join(block.partition('"\n')[2].split()) for block in demo.stdout.split("\n$ ")
    }
    price = answers["flowkit flow:run menuQA \"What does the lentil shepherd's pie cost?"]
    assert "The lentil shepherd's pie is vegan and costs 14.50 EUR" in price
    assert "closed on Mondays" in answers['flowkit flow:run menuQA "When is the restaurant closed?']
    assert "Dogs are welcome on the terrace" in answers['flowkit flow:run menuQA "Can I bring my dog?']
    assert "I don't know" in answers['flowkit flow:run menuQA "How tall is the Eiffel Tower?']


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
