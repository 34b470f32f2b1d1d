"""The file by which tools find a running app."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from flowkit.server.reflection.runtime_file import RuntimeFile, runtimes_folder
from flowkit.server.runtimes import runtimes, sweep


def write(root: Path, runtime_id: str = "4711-3100") -> RuntimeFile:
    return RuntimeFile.write(root, runtime_id=runtime_id, url="http://127.0.0.1:3100")


def test_it_says_what_genkits_tools_ask_for(tmp_path: Path):
    file = write(tmp_path)
    content = json.loads(file.path.read_text())

    assert file.path.parent == tmp_path / ".genkit" / "runtimes"
    assert file.path.name.startswith("4711-3100-")
    assert content["pid"] == os.getpid()
    assert content["reflectionServerUrl"] == "http://127.0.0.1:3100"
    # Genkit's command line ends itself when this is higher than it knows.
    assert content["reflectionApiSpecVersion"] == 1
    assert content["genkitVersion"].startswith("py/")
    assert datetime.fromisoformat(content["timestamp"]).tzinfo is not None
    assert None not in content.values()


def test_nothing_but_whole_files_lie_in_the_folder(tmp_path: Path):
    write(tmp_path)

    assert [path.suffix for path in runtimes_folder(tmp_path).iterdir()] == [".json"]


def test_a_name_that_the_user_chose_stays_within_the_folder(tmp_path: Path):
    file = write(tmp_path, "../../my app")

    assert file.path.parent == runtimes_folder(tmp_path)
    assert json.loads(file.path.read_text())["id"] == "../../my app"


def test_only_the_file_of_this_process_is_removed(tmp_path: Path):
    mine, other, forked = write(tmp_path, "a"), write(tmp_path, "b"), write(tmp_path, "c")
    other.path.write_text(json.dumps({"pid": os.getpid() + 1}))

    mine.remove()
    mine.remove()
    other.remove()
    RuntimeFile(forked.path, os.getpid() + 1).remove()

    assert sorted(runtimes_folder(tmp_path).iterdir()) == [other.path, forked.path]


@pytest.mark.parametrize(
    "odd",
    [
        {"reflectionServerUrl": "http://127.0.0.1:3100/\x01"},
        {"reflectionServerUrl": "http://127.0.0.1:3100/\ud800"},
        {"reflectionServerUrl": "http://127.0.0.1:3100/" + "x" * 70_000},
        {"reflectionServerUrl": "http://127.0.0.1:x"},
        {"reflectionServerUrl": "http://elsewhere.example:80"},
        {"id": "\ud800"},
        {"pid": 2**70},
        {"pid": -1},
        {"timestamp": None},
    ],
    ids=lambda odd: repr(odd)[:60],
)
def test_a_file_whose_words_cannot_be_used_is_no_app(tmp_path: Path, odd: dict[str, Any]):
    file = write(tmp_path)
    told = json.loads(file.path.read_text())
    file.path.with_name("odd.json").write_text(json.dumps({**told, "id": "odd", **odd}))
    file.path.with_name("deep.json").write_text("[" * 200_000)

    assert [runtime.id for runtime in runtimes(tmp_path)] == ["4711-3100"]
    assert sweep(tmp_path) == []


def test_a_name_is_shown_without_what_no_page_can_show(tmp_path: Path):
    file = write(tmp_path)
    told = json.loads(file.path.read_text())
    file.path.write_text(json.dumps({**told, "name": "a\ud800\x00b", "genkitVersion": 5}))

    assert [(each.name, each.version) for each in runtimes(tmp_path)] == [("a\ufffd\ufffdb", "5")]
