"""`log:list`: what the app logged, with the run in which it did."""

import json

import pytest

from tests.cli.conftest import Project

APP = """
import logging
from flowkit import Flowkit

ai = Flowkit()
log = logging.getLogger("kitchen")


@ai.flow
async def cook(dish: str) -> str:
    log.warning("the oven is cold for %s", dish)
    try:
        raise ValueError("no gas")
    except ValueError:
        log.exception("failed\\x1b[31m")
    return dish
"""


@pytest.fixture
def kitchen(project: Project) -> Project:
    project.write("app.py", APP)
    return project


def test_records_are_listed_with_time_level_run_and_logger(kitchen: Project):
    trace_id = kitchen.run("flow:run", "cook", "スープ").err.rpartition("Trace ID: ")[2].strip()

    first, second = kitchen.run("log:list").out.splitlines()

    assert first.split()[2:] == ["WARN", trace_id[:8], "kitchen", "the", "oven", "is", "cold", "for", "スープ"]
    assert second.split()[2:5] == ["ERROR", trace_id[:8], "kitchen"]
    assert second.endswith("— ValueError: no gas")
    assert "\x1b" not in second


def test_the_list_is_filtered(kitchen: Project):
    kitchen.run("flow:run", "cook", "soup")
    kitchen.run("flow:run", "cook", "salad")

    def texts(*options: str) -> list[str]:
        return [json.loads(line)["body"] for line in kitchen.run("log:list", "--json", *options).out.splitlines()]

    assert len(texts()) == 4
    assert len(texts("--severity", "error")) == 2
    assert texts("--trace", "latest", "--severity", "WARN")[0] == "the oven is cold for salad"
    assert texts("--text", "SOUP") == ["the oven is cold for soup"]
    limited = kitchen.run("log:list", "--limit", "1")
    assert len(limited.out.splitlines()) == 1
    assert "there are more" in limited.err


def test_nothing_was_logged(project: Project):
    run = project.run("log:list")

    assert (run.code, run.out) == (0, "")
    assert "nothing was logged yet" in run.err
    assert "nothing like that" in project.run("log:list", "--severity", "fatal").err
    assert project.run("log:list", "--trace", "abc").code == 2
