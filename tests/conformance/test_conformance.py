"""The vectors pass, and the runner says what happened."""

import json
from pathlib import Path

import pytest

from tests.conformance.__main__ import main
from tests.conformance.compare import difference
from tests.conformance.run import deviations, load, run
from tests.conformance.vector import Vector

VECTORS = load(Path(__file__).with_name("vectors"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.id)
def test_vector(vector):
    outcome = run(vector)
    assert outcome.status != "failed", outcome.note
    # A deviation that no longer deviates, or an unlisted one, would be a lie in the list.
    assert (outcome.status == "deviation") == (vector.id in deviations())


def test_every_vector_is_run_once():
    assert len({vector.id for vector in VECTORS}) == len(VECTORS)


@pytest.fixture
def folder(tmp_path):
    def write(*vectors: dict[str, object]) -> str:
        lines = [json.dumps({"source": "here", **vector}, ensure_ascii=False) for vector in vectors]
        (tmp_path / "some.jsonl").write_text("\n".join(lines), "utf-8")
        (tmp_path / "notes.txt").write_text("not a vector")
        return str(tmp_path)

    return write


def vector(id: str, area: str = "similarity", *, input: object, expected: object) -> dict[str, object]:
    return {"id": id, "area": area, "input": input, "expected": expected}


RIGHT = vector("s-1", input={"op": "cosine", "a": [1, 0], "b": [1, 0]}, expected={"value": 1.0000005})
WRONG = vector("s-2", input={"op": "cosine", "a": [1, 0], "b": [1, 0]}, expected={"value": 0.5})


def test_a_run_prints_one_line_per_area_and_the_sums(folder, capsys):
    text = vector(
        "d-1", "document", input={"op": "create", "text": "\u2028x", "metadata": {}}, expected={"text": "\u2028x"}
    )
    assert main([folder(RIGHT, text)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "document               1 passed, 0 failed, 0 deviations",
        "similarity             1 passed, 0 failed, 0 deviations",
        "2 passed, 0 failed, 0 deviations",
    ]


def test_a_failure_is_named_with_its_difference(folder, capsys):
    assert main([folder(RIGHT, WRONG)]) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "1 passed, 1 failed, 0 deviations"
    assert "failed s-2: .value: expected 0.5, got 1.0" in printed.err


def test_a_deviation_is_counted_apart_and_gives_its_reason(folder, capsys):
    listed = vector(
        "document-006",
        "document",
        input={"op": "to_segment", "document": {"text": "x", "metadata": {}}},
        expected={"text": "x", "metadata": {"index": "0"}},
    )
    assert main([folder(listed)]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "0 passed, 0 failed, 1 deviations"
    assert "deviation document-006: index is an int" in printed.err


def test_what_has_no_counterpart_is_not_applicable_and_named(folder, capsys):
    assert (
        main(
            [folder(vector("x-1", "telepathy", input={}, expected={}), vector("s-3", input={"op": "dot"}, expected={}))]
        )
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("n/a: dot (1)")
    assert lines[1].endswith("n/a: telepathy (1)")
    assert lines[-1] == "0 passed, 0 failed, 0 deviations"


def test_a_refusal_passes_only_where_one_is_expected():
    lengths = {"op": "cosine", "a": [1], "b": [1, 2]}
    assert run(Vector("a", "similarity", lengths, {"error": "invalid_argument"})).status == "passed"
    assert "raised InvalidInputError" in run(Vector("a", "similarity", lengths, {"value": 1})).note
    accepted = {"op": "cosine", "a": [1], "b": [1]}
    assert "should be refused" in run(Vector("a", "similarity", accepted, {"error": "invalid_argument"})).note


def test_a_crash_is_no_refusal():
    outcome = run(Vector("a", "similarity", {"op": "cosine", "a": "12", "b": "34"}, {"error": "invalid_argument"}))
    assert outcome.status == "failed"
    assert "crashed in embedding.py" in outcome.note


def test_wrong_calls_explain_the_usage(tmp_path, capsys):
    assert main([]) == 2
    assert main([str(tmp_path / "nowhere")]) == 2
    assert main([str(tmp_path)]) == 2
    assert main(["--help"]) == 0
    assert "usage: python -m tests.conformance DIR" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, 1.0),
        ({"a": [0.1]}, {"a": (0.1000001,), "more": 1}),
        ({"type": "long", "value": "5"}, 5),
        ({"filter": {"values": ["a", 1]}}, {"filter": {"values": [1, "a"]}}),
    ],
)
def test_equal_enough(expected, actual):
    assert difference(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, True),
        (0, None),
        ("1", 1),
        (2**53, 2**53 + 1),
        ({"a": 1}, {}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}),
        ([1], [1, 2]),
        (0.1, 0.10001),
    ],
)
def test_not_equal(expected, actual):
    assert difference(expected, actual) is not None
