"""Splitting programs: functions stay whole, chunks know where they belong, and anything else is cut all the same."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import split
from tests.rag.split.texts import OffsetCounter, byte_pairs, squeezed, words

BASKET = '''"""Baskets."""
import math


class Basket:
    """What somebody buys."""

    def __init__(self):
        self.items = []

    @property
    def total(self) -> float:
        """The sum.

        def this_is_text(): in a docstring
        """
        return math.fsum(
            item.price
            for item in self.items
        )


# How it is used.
@cached
def shop(name):
    if name:
        return Basket()
    else:
        return None
'''

CART = """import { sum } from './sum.js';

/** What somebody buys. */
export class Cart {
  // a remark with a { brace
  constructor() {
    this.items = [];
    this.pattern = /[{/]+"/;
  }

  total() {
    return sum(this.items.map((item) => `${item.price} {`));
  }
}

export const shop = async (name) => {
  if (name) {
    return new Cart();
  } else {
    return null;
  }
};
"""


def headed(text: str, source: str, *, max_chars: int, overlap_chars: int = 0) -> list[tuple[str | None, str]]:
    chunks = split.code(max_chars=max_chars, overlap_chars=overlap_chars)(Document.from_text(text, {"source": source}))
    return [(chunk.metadata.get("heading"), chunk.text) for chunk in chunks]


def test_python_is_cut_between_definitions():
    chunks = headed(BASKET, "shop/basket.py", max_chars=280)

    assert [heading for heading, _ in chunks] == [None, "Basket", "Basket.total", "shop"]
    assert chunks[1][1].endswith("self.items = []")
    assert chunks[2][1].startswith("    @property\n    def total")
    assert chunks[2][1].endswith(")")
    assert chunks[3][1].startswith("# How it is used.\n@cached\ndef shop(name):")


def test_javascript_is_cut_between_definitions():
    chunks = headed(CART, "cart.mjs", max_chars=190)

    assert [heading for heading, _ in chunks] == [None, "Cart", "Cart", "shop"]
    assert chunks[1][1].startswith("/** What somebody buys. */\nexport class Cart {")
    assert chunks[2][1].startswith("  total() {")
    assert chunks[3][1].startswith("export const shop")


def test_a_function_that_is_too_large_is_cut_between_its_statements():
    body = "".join(f"    value_{number} = compute({number})\n" for number in range(30))
    chunks = headed(f"def large():\n{body}\ndef small():\n    pass\n", "a.py", max_chars=200)

    assert all(text.endswith(")") for _, text in chunks[:-1])
    assert {heading for heading, _ in chunks[:-1]} == {"large"}


def test_the_overlap_begins_at_a_line():
    body = "".join(f"    value_{number} = compute({number})\n" for number in range(30))
    chunks = headed(f"def large():\n{body}", "a.py", max_chars=200, overlap_chars=60)

    for (_, before), (_, after) in pairwise(chunks):
        first = after.splitlines()[0]
        assert first.startswith("    value_")
        assert first in before.splitlines()


def test_the_language_can_be_said_and_otherwise_comes_from_the_name_of_the_file():
    said = split.code(language="python", max_chars=280)(Document.from_text(BASKET))

    assert [chunk.text for chunk in said] == [text for _, text in headed(BASKET, "basket.py", max_chars=280)]
    with pytest.raises(InvalidInputError, match="no language 'klingon'"):
        split.code(language="klingon", max_chars=280)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("broken.py", BASKET.replace("self.items\n        )", "self.items")),
        ("broken.js", CART.replace("};", "")),
        ("unknown.xyz", BASKET),
        ("script.rb", "class Basket\n  def total\n    @items.sum\n  end\nend\n\ndef shop\n  Basket.new\nend\n"),
    ],
)
def test_what_does_not_read_is_cut_by_its_indentation(source: str, text: str):
    chunks = headed(text, source, max_chars=120)

    assert all(len(chunk) <= 120 for _, chunk in chunks)
    assert squeezed("".join(chunk for _, chunk in chunks)) == squeezed(text)


def test_real_files_lose_nothing():
    for path in sorted(Path(split.__file__).parent.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert squeezed("".join(chunk for _, chunk in headed(text, path.name, max_chars=700))) == squeezed(text)


LINES = ["def f(x):", "class A:", "    def g(self):", "        return {", "        }", "    x = 1", "", "'''"]
LINES += ["function f() {", "}", "  if (x) {", "  } else {", "  }", "`text ${x", "`", "/* open", "*/", "y" * 60]
LINES += ["\tz = [1]", "# remark"]


@settings(max_examples=150)
@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=25),
    newline=st.sampled_from(["\n", "\r\n"]),
    language=st.sampled_from(["python", "javascript", None]),
    limit=st.integers(12, 90),
    overlap=st.integers(0, 11),
    counter=st.sampled_from([len, OffsetCounter(byte_pairs), words]),
)
def test_nothing_is_lost_nothing_is_too_large_and_an_overlap_is_never_empty(
    lines, newline, language, limit, overlap, counter
):
    text = newline.join(lines)
    if not text.strip():
        return
    splitter = split.code(language=language, max_tokens=limit, overlap_tokens=overlap, tokenizer=counter)
    chunks = splitter(Document.from_text(text))

    count = counter.count if isinstance(counter, OffsetCounter) else counter
    behind = 0
    for chunk in chunks:
        start, end = chunk.metadata["start"], chunk.metadata["end"]
        assert text[start:end] == chunk.text
        assert count(chunk.text) <= limit
        assert not text[behind:start].strip()
        assert end > behind
        if behind and overlap:
            assert text[start:behind].strip()
        behind = end
    assert not text[behind:].strip()


def test_auto_takes_the_splitter_that_fits_the_file():
    splitter = split.auto(max_chars=400, overlap_chars=20)

    def chunks(source: str, text: str) -> list[Document]:
        return splitter(Document.from_text(text, {"source": source}))

    assert [chunk.metadata.get("heading") for chunk in chunks("a/README.MD", "# A\nx\n# B\ny")] == ["A", "B"]
    assert [chunk.metadata.get("heading") for chunk in chunks("basket.py", BASKET)] == ["Basket", "shop"]
    assert [chunk.metadata.get("heading") for chunk in chunks("notes.txt", "# A\nx\n# B\ny")] == [None]
