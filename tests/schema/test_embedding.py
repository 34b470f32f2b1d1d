"""Vectors and scores."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from flowkit.errors import InvalidInputError
from flowkit.schema.embedding import Embedding, cosine, cosine_from_relevance, relevance

number = st.floats(-1e3, 1e3)


def test_cosine_of_known_vectors():
    assert cosine([1, 2, 3], [4, 5, 6]) == pytest.approx(0.9746318461970762)
    assert cosine([1, 0], [0, 1]) == 0
    assert cosine([1, -1], [-1, 1]) == -1


def test_a_zero_vector_is_like_nothing():
    assert cosine([0, 0], [1, 1]) == 0
    assert relevance(cosine([0, 0], [1, 1])) == 0.5


def test_tiny_vectors_are_divided_by_the_floor():
    assert cosine([1e-5, 0], [1e-5, 0]) == pytest.approx(1e-2)


def test_vectors_of_two_lengths_are_refused_and_both_lengths_named():
    with pytest.raises(InvalidInputError, match="2 and 3 dimensions"):
        cosine([1, 2], [1, 2, 3])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(number, number), min_size=1, max_size=8))
def test_cosine_stays_within_its_bounds_and_is_symmetric(pairs):
    a, b = zip(*pairs, strict=True)
    assert -1 <= cosine(a, b) <= 1
    assert cosine(a, b) == cosine(b, a)
    assert 0 <= relevance(cosine(a, b)) <= 1


@settings(max_examples=50, deadline=None)
@given(st.floats(-1, 1))
def test_relevance_and_cosine_are_inverse(cos):
    assert cosine_from_relevance(relevance(cos)) == pytest.approx(cos)


def test_normalized_has_length_1():
    unit = Embedding(vector=(3.0, 4.0)).normalized()
    assert unit.vector == pytest.approx((0.6, 0.8))
    assert math.hypot(*unit.normalized().vector) == pytest.approx(1)


def test_a_vector_without_direction_stays():
    for vector in ((0.0, 0.0), (1e-11, 0.0)):
        assert Embedding(vector=vector).normalized().vector == vector


def test_embeddings_are_finite_and_equal_by_value():
    assert Embedding(vector=(1, 2)) == Embedding(vector=(1.0, 2.0))
    assert Embedding(vector=(1, 2)).dimension == 2
    with pytest.raises(ValidationError, match="NaN or infinity"):
        Embedding(vector=(float("nan"),))
