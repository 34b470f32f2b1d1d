"""`split.chunk` gives what the npm package llm-chunk 0.0.1 gives; llm_chunk.json holds what that printed."""

import json
from pathlib import Path
from typing import Any

import pytest

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import split
from flowkit.schema.text import is_blank
from tests.rag.split.texts import squeezed, worded

OBSERVED = json.loads(Path(__file__).with_name("llm_chunk.json").read_text(encoding="utf-8"))


def splitter_of(options: dict[str, Any]) -> split.Splitter:
    return split.chunk(
        min_length=options["minLength"],
        max_length=options["maxLength"],
        splitter=options["splitter"],
        overlap=options["overlap"],
        delimiters=options["delimiters"],
    )


@pytest.mark.parametrize("case", OBSERVED["cases"], ids=lambda case: f"{case['text']}-{case['options']['minLength']}")
def test_chunks_are_those_of_the_package(case: dict[str, Any]):
    chunks = splitter_of(case["options"])(Document.from_text(OBSERVED["texts"][case["text"]]))

    assert worded(chunks) == [chunk for chunk in case["chunks"] if not is_blank(chunk)]


@pytest.mark.parametrize("case", OBSERVED["cases"], ids=lambda case: f"{case['text']}-{case['options']['minLength']}")
def test_spans_cover_their_chunks(case: dict[str, Any]):
    text = OBSERVED["texts"][case["text"]]
    delimited = case["options"]["delimiters"] == "[,;] "  # drops the commas between parts
    for chunk in splitter_of(case["options"])(Document.from_text(text)):
        covered = squeezed(text[chunk.metadata["start"] : chunk.metadata["end"]])
        if delimited:
            covered = covered.replace(",", "").replace(";", "")
        assert covered == squeezed(chunk.text)


def test_the_settings_of_its_own_are_those_of_a_menu_or_a_manual():
    chunks = split.chunk()(Document.from_text("A sentence of some words. " * 200))

    assert len(chunks) == 6
    assert all(1000 <= len(chunk.text) <= 2000 for chunk in chunks[:-1])
    assert chunks[0].metadata["end"] > chunks[1].metadata["start"]


@pytest.mark.parametrize(
    "wrong", [{"min_length": -1}, {"max_length": 0}, {"overlap": -1}, {"overlap": 1.5}, {"max_length": True}]
)
def test_wrong_lengths_are_named(wrong: dict[str, Any]):
    ((name, value),) = wrong.items()
    with pytest.raises(InvalidInputError, match=f"{name}={value!r}.*{name} must be a whole number"):
        split.chunk(**wrong)


def test_wrong_splitters_and_delimiters_are_named():
    with pytest.raises(InvalidInputError, match="splitter is 'word'"):
        split.chunk(splitter="word")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"'\[' is no regular expression"):
        split.chunk(delimiters="[")
    with pytest.raises(InvalidInputError, match="is no regular expression"):
        split.chunk(delimiters="a{99999999999}")
