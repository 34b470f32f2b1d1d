"""Search terms in many scripts, and BM25 over them."""

import math

import pytest

from flowkit.errors import InvalidInputError
from flowkit.rag.keyword import KeywordIndex, checked_language, idf, query_terms, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Crème Brûlée", "creme brulee"),
        ("STRASSE", "straße"),
        ("İstanbul", "istanbul"),
        ("Ångström", "angstrom"),
        ("Łódź", "lodz"),
        ("Smørrebrød", "smorrebrod"),
        ("ﬁne", "fine"),
        ("ｶﾞﾝﾊﾞﾙ", "ガンバル"),
        ("か\u3099", "が"),
        ("ёлка", "елка"),
        ("Ἀθῆναι", "αθηναι"),
        ("مُحَمَّد", "محمد"),
        ("קָמָץ", "קמץ"),
        ("indexes indexing indexed", "index index index"),
        ("e\u0301clair", "éclair"),
        ("foo_bar", "foo bar"),
        ("O'Neil", "o neil"),
    ],
)
def test_spellings_that_mean_the_same_give_the_same_terms(one: str, other: str):
    assert terms(one) == terms(other)


@pytest.mark.parametrize(
    ("one", "other"), [("が", "か"), ("й", "и"), ("हिन्दी", "हनद"), ("co2", "co"), ("501", "00501")]
)
def test_what_is_another_letter_or_number_stays_apart(one: str, other: str):
    assert terms(one) != terms(other)


def test_words_of_indic_scripts_stay_whole():
    assert terms("हिन्दी में लिखा है।") == ["हिन्दी", "में", "लिखा", "है"]


def test_scripts_without_spaces_give_characters_and_pairs():
    assert terms("返金は") == ["返", "金", "は", "返金", "金は"]
    assert terms("𠮷野") == ["𠮷", "野", "𠮷野"]
    assert terms("3月 tax還付") == ["3", "月", "tax", "還", "付", "還付"]
    assert terms("ไทย") == ["ไ", "ท", "ย", "ไท", "ทย"]


@pytest.mark.parametrize("text", ["ꞌkausꞌ", "ꙮꙗ", "ꓐꓑ"])
def test_rarer_alphabets_have_words(text: str):
    assert len(terms(text)) == 1


def test_icons_and_halves_of_characters_are_no_terms():
    assert terms("\uf0b7 soup \ud800\ue000") == ["soup"]
    assert query_terms("\ud800") == []
    assert terms("豈") == terms("\uf900") == ["豈"]


def test_a_question_loses_its_stop_words_unless_they_are_all_it_has():
    assert query_terms("What is the refund policy?") == ["refund", "polici"]
    assert query_terms("The Who") == ["the", "who"]
    assert query_terms("返金はいつですか") == ["返", "金", "返金", "金は", "はい", "いつ", "つで", "すか"]
    assert query_terms("は") == ["は"]
    assert query_terms("?! ...") == []


def test_terms_are_fit_for_a_list_joined_with_spaces():
    for term in terms("a\x00b\ttab\u00a0nbsp 'quote' \"double\" (x) x*y a:b ½ ² 😀 — “q”" + "z" * 500):
        assert 0 < len(term) <= 64
        assert all(not c.isascii() or c.isalnum() for c in term)
        assert not any(c.isspace() for c in term)


def test_scores_are_those_of_the_formula():
    index = KeywordIndex()
    index.add("a", ["x", "x", "y"])
    index.add("b", ["x", "z", "z", "z", "z"])
    mean, weight = 4.0, math.log(1 + (2 - 2 + 0.5) / (2 + 0.5))

    right = {
        "a": weight * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / mean)),
        "b": weight * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 5 / mean)),
    }
    assert index.scores(["x"]) == pytest.approx(right)
    assert index.scores(["x", "x"]) == pytest.approx({id: 2 * score for id, score in right.items()})
    assert index.scores(["nothing"]) == {}
    assert idf(2, 2) == pytest.approx(weight)
    assert idf(1, 1) > 0


def test_rare_words_weigh_more_and_long_documents_less():
    index = KeywordIndex()
    index.add("rare", ["common", "rare", "pad"])
    index.add("short", ["common", "pad"])
    index.add("long", ["common", *["pad"] * 50])

    scores = index.scores(["common", "rare"])

    assert scores["rare"] > scores["short"] > scores["long"] > 0


def test_removed_and_replaced_documents_leave_no_trace():
    index, fresh = KeywordIndex(), KeywordIndex()
    for id in "abc":
        index.add(id, ["old", "words"])
    index.add("a", ["new"])
    index.remove("b")
    index.remove("nowhere")
    fresh.add("a", ["new"])
    fresh.add("c", ["old", "words"])

    for query in (["new"], ["old"], ["words", "new"]):
        assert index.scores(query) == fresh.scores(query)
    assert len(index) == 2
    for id in "ac":
        index.remove(id)
    assert index.scores(["new"]) == {}


def test_an_empty_index_and_documents_without_words():
    index = KeywordIndex()
    assert index.scores(["x"]) == {}

    index.add("a", [])
    assert index.scores(["x"]) == {}
    index.add("b", ["x"])
    assert list(index.scores(["x"])) == ["b"]


def test_words_lose_the_endings_of_their_language():
    assert terms("Öffnungszeiten der Häuser", "german") == terms("Öffnungszeit der Haus", "german")
    assert terms("книги", "russian") == terms("книга", "russian")
    assert terms("running Häuser 返金", "simple") == ["running", "hauser", "返", "金", "返金"]
    assert query_terms("the and", "german") == ["the", "and"]


def test_a_language_without_rules_is_refused_naming_those_with():
    with pytest.raises(InvalidInputError, match="klingon") as caught:
        checked_language("klingon")
    assert "german" in (caught.value.hint or "")
    assert checked_language("simple") == "simple"
