"""Answers made of sentences: what is said, what is cited, and when it does not know."""

import math
from typing import Any

import pytest

from flowkit import Document, Flowkit, GenerateResponse, Message
from flowkit.errors import InvalidInputError
from flowkit.rag import split
from flowkit_local import Local
from flowkit_local.extractive import UNKNOWN

MENU_TEXT = (
    "Welcome to the Blue Door. The tomato soup is made with cream. The lentil lasagne is vegan and costs 13.50. "
    "We are closed on Mondays. Dogs are welcome on the terrace."
)
MENU = Document.from_text(
    MENU_TEXT, {"source": "menu.pdf", "page": 2, "start": 1000, "end": 1000 + len(MENU_TEXT)}, id="menu-2"
)
TOWER = Document.from_text(
    "The Meridian Tower is the tallest building in Port Ansel. It was designed by Ida Kovacs. "
    "Its construction took eleven years.",
    {"source": "tower.md"},
    id="tower",
)
NARA = Document.from_text(
    "奈良市は近畿地方にある都市です。8世紀には平城京が日本の首都でした。鹿が公園にたくさんいます。",
    {"source": "nara.txt"},
    id="nara",
)
DOCS = [MENU, TOWER, NARA]


@pytest.fixture(scope="module")
def ai() -> Flowkit:
    return Flowkit(plugins=[Local()], model="local/extractive")


async def ask(ai: Flowkit, question: str, docs: list[Document] | None = None, **config: Any) -> GenerateResponse:
    return await ai.generate(prompt=question, docs=DOCS if docs is None else docs, config=config or None)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which dish is vegan?", "The lentil lasagne is vegan and costs 13.50."),
        ("When is the restaurant closed?", "We are closed on Mondays."),
        ("What is the tallest building in Port Ansel?", "The Meridian Tower is the tallest building in Port Ansel."),
        ("8世紀に日本の首都はどこでしたか。", "8世紀には平城京が日本の首都でした。"),
    ],
)
async def test_the_sentence_that_answers_comes_first(ai: Flowkit, question: str, answer: str):
    response = await ask(ai, question)

    assert response.text.startswith(answer)
    assert response.citations[0].quote == answer


async def test_a_sentence_that_points_back_is_found_by_what_it_points_to(ai: Flowkit):
    response = await ask(ai, "Who designed the Meridian Tower?", sentences=1)

    assert response.text == "It was designed by Ida Kovacs."


async def test_a_question_in_the_document_leads_to_its_answer(ai: Flowkit):
    faq = Document.from_text(
        "## How do I cancel?\n\nOpen Settings and choose Billing.\n\n## Who are you?\n\nA small firm."
    )

    response = await ask(ai, "How do I cancel?", [faq], sentences=1)

    assert response.text == "Open Settings and choose Billing."


@pytest.mark.parametrize(
    "question",
    ["Who invented the telephone?", "What is the wifi password?", "火星の衛星はいくつありますか。", "?!"],
)
async def test_what_the_documents_do_not_tell_it_does_not_know(ai: Flowkit, question: str):
    response = await ask(ai, question)

    assert response.text == UNKNOWN
    assert response.citations == []
    assert response.finish_reason == "stop"


async def test_without_documents_it_does_not_know(ai: Flowkit):
    response = await ask(ai, "Which dish is vegan?", [])

    assert response.text == UNKNOWN
    assert response.citations == []


async def test_a_citation_says_where_the_sentence_stands_in_the_source(ai: Flowkit):
    response = await ask(ai, "Which dish is vegan?", sentences=1)

    at = 1000 + MENU.text.index("The lentil")
    assert response.message is not None
    assert response.message.metadata == {
        "citations": [
            {
                "documentId": "menu-2",
                "source": "menu.pdf",
                "page": 2,
                "start": at,
                "end": at + len(response.text),
                "quote": response.text,
            }
        ]
    }


async def test_citations_of_chunks_hold_their_quotes_in_the_whole_text(ai: Flowkit):
    text = "Opening hours.\n\n\n   We open at nine.\n\n\n\nThe tower is 90 metres high.\nIt has two lifts.\n\n\n" * 2
    chunks = split.recursive(max_chars=60, overlap_chars=0)(Document.from_text(text, {"source": "tower.txt"}))

    response = await ask(ai, "How high is the tower?", chunks[:3], sentences=1)

    (citation,) = response.citations
    assert citation.start is not None
    assert citation.quote in text[citation.start : citation.end]


async def test_the_answer_is_running_text_and_the_quote_keeps_the_lines_of_its_page(ai: Flowkit):
    page = Document.from_text("The lentil soup is vegan\nand costs 5.00 EUR:  with\nparsley.", {"source": "menu.pdf"})

    response = await ask(ai, "Which soup is vegan?", [page], sentences=1)

    assert response.text == "The lentil soup is vegan and costs 5.00 EUR: with parsley."
    assert response.citations[0].quote == page.text


async def test_without_a_place_in_a_source_the_document_is_the_source(ai: Flowkit):
    (citation,) = (await ask(ai, "Who designed the Meridian Tower?", [TOWER], sentences=1)).citations

    assert TOWER.text[citation.start : citation.end] == citation.quote
    assert citation.page is None


async def test_overlapping_chunks_are_not_quoted_twice(ai: Flowkit):
    whole = "The museum opens at nine. The last entry is at five."
    docs = [
        Document.from_text(whole),
        Document.from_text("The last entry is at five. Guides cost extra."),
        Document.from_text("entry is at five."),
    ]

    response = await ask(ai, "When is the last entry to the museum?", docs, sentences=3)

    assert response.text.count("entry is at five") == 1


async def test_the_answer_is_the_same_every_time(ai: Flowkit):
    texts = {(await ask(ai, "Which dish is vegan?", docs)).text for docs in (DOCS, DOCS, [MENU])}

    assert len(texts) == 1


async def test_the_number_of_sentences_can_be_set(ai: Flowkit):
    text = "Rule one says walk. Rule two says stop. Rule three says look."
    answers = [await ask(ai, "What does each rule say?", [Document.from_text(text)], sentences=n) for n in (1, 2, 3)]

    assert [len(answer.citations) for answer in answers] == [1, 2, 3]


async def test_the_threshold_decides_what_it_says(ai: Flowkit):
    assert (await ask(ai, "Which dish is vegan?", threshold=1)).text == UNKNOWN
    assert (await ask(ai, "Who invented the telephone?", threshold=0)).text != UNKNOWN


@pytest.mark.parametrize(
    "config", [{"sentences": 0}, {"sentences": "two"}, {"sentences": True}, {"threshold": 1.5}, {"threshold": "low"}]
)
async def test_wrong_settings_are_named(ai: Flowkit, config: dict[str, Any]):
    with pytest.raises(InvalidInputError, match=f"config.{next(iter(config))}"):
        await ask(ai, "Which dish is vegan?", **config)


async def test_it_streams_sentence_by_sentence(ai: Flowkit):
    stream = ai.generate_stream(prompt="Which dish is vegan, and which one has cream?", docs=[MENU])
    chunks = [chunk.text async for chunk in stream]
    response = await stream.result

    assert len(chunks) == len(response.citations) == 2
    assert "".join(chunks) == response.text


async def test_tokens_of_question_documents_and_answer_are_counted(ai: Flowkit):
    count = Local().tokenizer().count
    question = "Which dish is vegan?"

    response = await ask(ai, f"Answer from the menu. Question: {question}", [MENU])

    assert response.usage is not None
    assert response.usage.input_tokens == count(question) + count(MENU.text)
    assert response.usage.output_tokens == count(response.text)
    assert response.usage.total_tokens == count(question) + count(MENU.text) + count(response.text)


async def test_the_conversation_before_is_no_part_of_the_question(ai: Flowkit):
    history = [Message.user("Who designed the Meridian Tower?"), Message.model("It was designed by Ida Kovacs.")]

    response = await ai.generate(prompt="Which dish is vegan?", messages=history, docs=DOCS)

    assert response.text.startswith("The lentil lasagne is vegan")


async def test_long_documents_are_read_to_the_end(ai: Flowkit):
    filler = "".join(f"Shelf {number} holds folders of the year {1900 + number}. " for number in range(99))
    long = Document.from_text(filler + "The key to the cellar hangs behind the clock. " + filler)

    response = await ask(ai, "Where does the key to the cellar hang?", [long], sentences=1)

    assert response.text == "The key to the cellar hangs behind the clock."


async def test_many_documents_are_searched_by_words_first(ai: Flowkit):
    docs = [
        Document.from_text(f"Room {number} is {'red' if number % 2 else 'blue'}. It has a view.")
        for number in range(60)
    ]
    docs.append(Document.from_text("The generator stands in the east wing."))

    response = await ask(ai, "Where does the generator stand?", docs, sentences=1)

    assert response.text == "The generator stands in the east wing."


async def test_documents_without_text_are_passed_over(ai: Flowkit):
    response = await ask(ai, "Which dish is vegan?", [Document(content=()), MENU], sentences=1)

    assert not math.isnan(response.latency_ms or 0)
    assert response.citations[0].document_id == "menu-2"
