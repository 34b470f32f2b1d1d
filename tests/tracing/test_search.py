"""Text search over traces finds words, and the beginnings of words, wherever they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowkit.tracing.rows import SpanError
from flowkit.tracing.store import TraceStore
from tests.tracing.spans import span


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TraceStore]:
    store = TraceStore(tmp_path / "traces.db")
    root = span("menuQA", trace=1, input=b'{"question":"What is vegan?\\nAnd cheap?"}')
    step = span("fake/model", kind="model", trace=1, parent_id=root.span_id, output="Crème brûlée, 12 €".encode())
    store.write([root, step])
    failed = span("indexMenu", trace=2, state="error", error=SpanError("TimeoutError", "no answer from pinecone"))
    store.write([failed])
    store.write(
        [span("sushi", trace=3, input='"今日のお寿司は何ですか"'.encode(), output='"비빔밥을 드세요 😀"'.encode())]
    )
    yield store
    store.close()


def found(store: TraceStore, text: str) -> list[str]:
    return sorted(item.name for item in store.list(text=text).items)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("vegan", ["menuQA"]),
        ("veg", ["menuQA"]),
        ("VEGAN brulee", ["menuQA"]),  # in two spans of it
        ("cheap", ["menuQA"]),  # behind an escaped line break
        ('"is vegan"', ["menuQA"]),
        ('"vegan is"', []),
        ("fake/model", ["menuQA"]),
        ("menu", ["menuQA"]),  # a word goes on where its letters do
        ("/flow/indexMenu", ["indexMenu"]),
        ("timeouterror pinecone", ["indexMenu"]),
        ("vegan pinecone", []),
        ("寿司", ["sushi"]),
        ("お寿司は", ["sushi"]),
        ("司寿", []),
        ("비빔밥", ["sushi"]),
        ("😀", ["sushi"]),
        ("€", ["menuQA"]),
        ("AND OR NOT (", []),
        ('"vegan', ["menuQA"]),
        ("   ", ["indexMenu", "menuQA", "sushi"]),
    ],
)
def test_words(store: TraceStore, text: str, names: list[str]):
    assert found(store, text) == names


def test_what_still_runs_is_found_too(store: TraceStore):
    running = span("slow", trace=4, end_ns=0, input=b'"are you there yet?"')
    store.write([running])

    assert found(store, "yet") == ["slow"]

    store.write([span("slow", trace=4, span_id=running.span_id, input=running.input, output=b'"arrived"')])

    assert found(store, "yet arrived") == ["slow"]


def test_spans_that_come_after_a_search_are_found_by_the_next(store: TraceStore):
    assert found(store, "dessert") == []

    store.write([span("late", trace=1, parent_id="f" * 16, output=b'"dessert"')])

    assert found(store, "dessert vegan") == ["menuQA"]
    assert found(store, "vegan") == ["menuQA"]


def test_words_of_a_deleted_trace_do_not_pass_to_the_next_one(store: TraceStore):
    assert found(store, "寿司") == ["sushi"]
    store.delete([f"{3:032x}"])

    store.write([span("next", trace=4, input=b'"soup"')])

    assert found(store, "寿司") == []
    assert found(store, "soup") == ["next"]


def test_pages_of_a_search(store: TraceStore):
    store.write([span(str(n), trace=n, at=n, input=b'"needle"') for n in range(10, 40)])

    first = store.list(text="needle", limit=20)
    second = store.list(text="needle", limit=20, cursor=first.cursor)

    assert [len(first.items), len(second.items), second.cursor] == [20, 10, None]


def test_the_index_can_be_kept_fresh_beforehand(store: TraceStore):
    assert store.index_words() == 3
    assert store.index_words() == 0
    store.delete([f"{1:032x}"])
    assert found(store, "vegan") == []
    assert found(store, "pinecone") == ["indexMenu"]
