"""Documents as sentences that can be quoted."""

import pytest

from flowkit_local.passages import Passage


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three", ["One.", "Two!", "Three"]),
        (
            "A line of prose that was wrapped somewhere in the middle of it\nby an editor. The next one is short.",
            ["A line of prose that was wrapped somewhere in the middle of it\nby an editor.", "The next one is short."],
        ),
        (
            "Tomato soup 6.50\nMushroom risotto 14.00\nVegan lasagne",
            ["Tomato soup 6.50", "Mushroom risotto 14.00", "Vegan lasagne"],
        ),
        (
            "We accept:\n- Visa\n- PayPal, and\n  cheques\n1. cash",
            ["We accept:", "- Visa", "- PayPal, and\n  cheques", "1. cash"],
        ),
        ("| dish | price |\n|---|---|\n| soup | 6 |", ["| dish | price |", "|---|---|", "| soup | 6 |"]),
        ("Paragraph one\n\nparagraph two", ["Paragraph one", "paragraph two"]),
        ("奈良は古い都です。大仏があります。", ["奈良は古い都です。", "大仏があります。"]),
        (" \n ", []),
    ],
)
def test_a_text_falls_into_sentences(text: str, sentences: list[str]):
    passage = Passage.of(text)

    assert [passage.quote(sentence) for sentence in passage.sentences] == sentences


def test_headings_and_questions_lead_to_what_follows():
    passage = Passage.of("# Refunds\nWithin 30 days.\n\n## How do I cancel?\nOpen Settings. Really? 本当ですか？はい。")

    assert [passage.quote(s) for s in passage.sentences if s.leads] == [
        "# Refunds",
        "## How do I cancel?",
        "Really?",
        "本当ですか？",
    ]
