"""How texts are cut and put together before the model reads them."""

from hypothesis import given
from hypothesis import strategies as st

from flowkit_local.batches import batches, windows

WORDS = st.lists(st.integers(1, 12), max_size=60).map(
    lambda sizes: [word for word, size in enumerate(sizes) for _ in range(size)]
)


@given(WORDS, st.integers(2, 10), st.integers(1, 10))
def test_windows_cover_every_token_once_and_keep_their_limits(words: list[int], first: int, rest: int):
    spans = windows(words, first, rest)

    assert [at for start, end in spans for at in range(start, end)] == list(range(len(words)))
    assert spans[0][1] - spans[0][0] <= first
    assert all(end - start <= rest for start, end in spans[1:])


@given(WORDS, st.integers(12, 20))
def test_windows_that_can_hold_a_word_cut_none(words: list[int], limit: int):
    for _, end in windows(words, limit, limit)[:-1]:
        assert words[end] != words[end - 1]


def test_a_word_that_fills_a_window_alone_is_cut():
    assert windows([0] * 25, 10, 10) == [(0, 10), (10, 20), (20, 25)]


def test_no_tokens_are_one_empty_window():
    assert windows([], 10, 10) == [(0, 0)]


@given(st.lists(st.integers(1, 300), max_size=80), st.integers(1, 1024))
def test_batches_hold_every_text_once_within_the_budget(lengths: list[int], budget: int):
    groups = batches(lengths, budget=budget)

    assert sorted(at for group in groups for at in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(lengths[at] for at in group) <= budget


@given(st.lists(st.integers(1, 300), min_size=1, max_size=80))
def test_the_longest_texts_come_first(lengths: list[int]):
    order = [lengths[at] for group in batches(lengths, budget=512) for at in group]

    assert order == sorted(lengths, reverse=True)
