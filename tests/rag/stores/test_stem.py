"""English endings."""

import pytest

from flowkit.rag.stem import stem


# Examples from Porter's paper, for each step.
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("caress", "caress"), ("cats", "cat"),
        ("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled"), ("motoring", "motor"),
        ("sing", "sing"), ("conflated", "conflat"), ("troubled", "troubl"), ("sized", "size"), ("hopping", "hop"),
        ("tanned", "tan"), ("falling", "fall"), ("hissing", "hiss"), ("fizzed", "fizz"), ("failing", "fail"),
        ("filing", "file"), ("happy", "happi"), ("sky", "sky"), ("relational", "relat"), ("conditional", "condit"),
        ("rational", "ration"), ("digitizer", "digit"), ("operator", "oper"), ("feudalism", "feudal"),
        ("decisiveness", "decis"), ("hopefulness", "hope"), ("formality", "formal"), ("sensibility", "sensibl"),
        ("triplicate", "triplic"), ("formative", "form"), ("electrical", "electr"), ("goodness", "good"),
        ("revival", "reviv"), ("allowance", "allow"), ("airliner", "airlin"), ("adjustable", "adjust"),
        ("replacement", "replac"), ("adoption", "adopt"), ("effective", "effect"), ("probate", "probat"),
        ("rate", "rate"), ("cease", "ceas"), ("controlling", "control"), ("rolling", "roll"),
        ("technology", "technolog"),
    ],
)  # fmt: skip
def test_words_lose_their_endings(word: str, expected: str):
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["", "a", "is", "us", "yes", "y", "by", "sss", "ied", "eed", "ing", "ion"])
def test_short_words_survive(word: str):
    assert len(stem(word)) >= min(len(word), 1)


def test_forms_of_a_word_meet():
    assert len({stem(word) for word in ("connect", "connected", "connecting", "connection", "connections")}) == 1
