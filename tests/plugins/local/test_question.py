"""What is asked, in prompts of all kinds."""

import pytest

from flowkit import Message
from flowkit.plugin import TextPart
from flowkit_local.question import question_of


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("Which dishes are vegan?", "Which dishes are vegan?"),
        ("  Which dishes are vegan?\n", "Which dishes are vegan?"),
        ("Answer from the menu only. Question: Which dishes are vegan?", "Which dishes are vegan?"),
        (
            "Question: What is it?\nAnswer: soup\n\nQuestion: Which dishes are vegan?\nAnswer:",
            "Which dishes are vegan?",
        ),
        ("QUESTION : Which dishes are vegan?\n\nBe brief.", "Which dishes are vegan?"),
        ("Question:\nWhich dishes\nare vegan?\nContext: the menu", "Which dishes\nare vegan?"),
        ("Which dishes are vegan?\n\nAnswer using the following information:\nSoup.", "Which dishes are vegan?"),
        ("Which dishes are vegan?\nQuestion:", "Which dishes are vegan?\nQuestion:"),
        ("", ""),
    ],
)
def test_the_question_in_a_prompt(prompt: str, question: str):
    assert question_of([Message.user(prompt)]) == question


def test_the_last_user_message_asks():
    messages = [
        Message.system("Question: none"),
        Message.user("What is the soup?"),
        Message.model("Tomato."),
        Message.user("Is it vegan?"),
        Message.model("…"),
    ]

    assert question_of(messages) == "Is it vegan?"
    assert question_of(messages[:1]) == ""


def test_documents_in_the_message_are_no_part_of_the_question():
    context = TextPart(text="\n\nUse this: soup. Question: which?", metadata={"purpose": "context"})
    message = Message(role="user", content=(TextPart(text="Is it "), context, TextPart(text="vegan?")))

    assert question_of([message]) == "Is it vegan?"
