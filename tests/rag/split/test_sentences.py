"""Where sentences end."""

import pytest
from hypothesis import given

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import split
from tests.rag.split.texts import texts, worded


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in split.sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Okafor met the ferry.| She waited.",
        "Mr. and Mrs. Silva came, e.g. by boat.| They left.",
        "Pi is 3.14, see Fig. 2 and No. 5.| No.| It is not.",
        "J. R. R. Tolkien wrote it.| He was British.",
        "The U.S. Senate met.| He left the U.S.| The end.",
        "We open at 5 p.m. every day.| We close at 11 p.m.| Come early!",
        "Apple Inc. sells phones.| Bread, soup etc.| Then rice.",
        '"Really?" she asked.| "Yes!"| She left.',
        "Wait... what?| Wait...| Then go… on.| Stop…| Now.",
        "(See above.)| [Done!]| *Bold.*| End",
        "1. First item.| 2. Second item.| It was 1999.| Then came 2000.",
        "Version 2.0 is out.| Get version 3.0.| Now.",
        "hello there.| how are you?| fine",
        "What?!| No way!!!| Yes.",
        "No full stop at the end",
        "Das kostet z.B. 3 Euro bzw. 4 Euro.| Gut, vgl. oben.",
    ],
)
def test_english_and_german(text: str):
    assert cut(text.replace("|", "")) == [sentence.strip() for sentence in text.split("|")]


@pytest.mark.parametrize(
    "text",
    [
        "今日は晴れです。|明日は雨でしょう！|傘は？|ある｡|はい。",
        "彼は「行く。」|そう言って去った。",
        "「何？」と言った。|彼は去った。",
        "値は３．１４です。|終わり．|次です。",
        "そう……|次の店へ…ですか。",
        "什么？|好的!|走吧。",
        "これはVer.2です。|次です。",
        "본문입니다.| 다음 문장입니다!| 끝?",
        "यह एक वाक्य है।| यह दूसरा है॥",
        "هل هذا سؤال؟| نعم.",
        "یہ جملہ ہے۔| دوسرا۔",
    ],
)
def test_other_scripts(text: str):
    assert cut(text.replace("|", "")) == [sentence.strip() for sentence in text.split("|")]


def test_a_line_break_alone_ends_no_sentence():
    assert cut("A title\n\nA sentence\nover lines. Next") == ["A title\n\nA sentence\nover lines.", "Next"]


def test_blank_text_has_no_sentences():
    assert cut(" \n\t ") == []


@given(text=texts())
def test_every_character_but_blanks_is_in_one_sentence(text: str):
    behind = 0
    for start, end in split.sentences(text):
        assert not text[behind:start].strip("".join(map(chr, range(0x21))))
        assert behind <= start < end
        assert text[start] > " "
        assert text[end - 1] > " "
        behind = end
    assert not text[behind:].strip("".join(map(chr, range(0x21))))


def test_another_detector_may_give_spans_or_texts():
    text = "soup; bread; plums"

    def spans(text: str) -> list[tuple[int, int]]:
        cuts = [at + 1 for at, char in enumerate(text) if char == ";"]
        return list(zip([0, *cuts], [*cuts, len(text)], strict=True))

    def pieces(text: str) -> list[str]:
        return [f"{piece};" if f"{piece};" in text else piece for piece in text.split("; ")]

    for detector in (spans, pieces):
        chunks = split.sentence(max_chars=7, sentence_detector=detector)(Document.from_text(text))

        assert [chunk.strip() for chunk in worded(chunks)] == ["soup;", "bread;", "plums"]
        assert [chunk.metadata["end"] for chunk in chunks] == [5, 12, 18]


def test_another_detector_is_asked_for_the_overlap_too():
    splitter = split.word(max_chars=20, overlap_chars=10, sentence_detector=lambda text: text.split("/"))

    assert splitter.overlap("one two/three/four") == "three four"


def test_a_detector_that_makes_up_sentences_is_told():
    splitter = split.sentence(max_chars=5, sentence_detector=lambda text: ["not there"])

    with pytest.raises(InvalidInputError, match="'not there', which is not in the text"):
        splitter(Document.from_text("soup and bread"))
