"""The splitters by level against their rules written down plainly, with strings only and no short cuts."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import assume, given
from hypothesis import strategies as st

from flowkit import Document
from flowkit.rag import split
from tests.rag.split.texts import texts, worded, words

SPACE = r"[ \t\n\v\f\r]"
BREAK = r"(?>\r\n|[\n\v\f\r\x85\u2028\u2029])"
BLANKS = "".join(map(chr, range(0x21)))
JOINS = {"paragraph": "\n\n", "line": "\n", "sentence": " ", "word": " ", "character": ""}
FINER = {"paragraph": "sentence", "line": "sentence", "sentence": "word", "word": "character"}


class NothingFinerError(Exception):
    """The plain rules end here; the splitters drop the overlap and go on."""


@dataclass
class Plain:
    level: str
    limit: int
    overlap: int
    count: Callable[[str], int]
    finer: dict[str, str]

    def size(self, text: str) -> int:
        return self.count(text) if text.strip(BLANKS) else len(text)

    def parts(self, text: str) -> list[str]:
        match self.level:
            case "paragraph":
                return cut_at(rf"{SPACE}*{BREAK}{SPACE}*{BREAK}{SPACE}*", text)
            case "line":
                return cut_at(rf"{SPACE}*{BREAK}{SPACE}*", text)
            case "sentence":
                return [text[start:end] for start, end in split.sentences(text)] or [text]
            case "word":
                return cut_at(rf"{SPACE}+", text)
            case _:
                return list(text)

    def split(self, text: str) -> list[str]:
        join = JOINS[self.level]
        chunks: list[str] = []
        built, repeated = "", None

        def room_for(part: str) -> bool:
            if not built:
                return self.size(part) <= self.limit
            return self.size(part) + self.size(built) + self.size(join) <= self.limit

        def with_part(part: str) -> str:
            return built + join + part if built else part

        for part in self.parts(text):
            if room_for(part):
                built = with_part(part)
                continue
            chunk = built.strip(BLANKS)
            if built and chunk != repeated:
                if chunk:
                    chunks.append(chunk)
                built = repeated = self.repeated(chunk)
                if room_for(part):
                    built = with_part(part)
                    continue
            if self.level not in self.finer:
                raise NothingFinerError
            finer = Plain(self.finer[self.level], self.limit, self.overlap, self.count, self.finer)
            chunks += finer.split(with_part(part).strip(BLANKS))
            built = repeated = self.repeated(chunks[-1])
        chunk = built.strip(BLANKS)
        if chunk and chunk != repeated:
            chunks.append(chunk)
        return chunks

    def repeated(self, chunk: str) -> str:
        join = JOINS[self.level]
        taken = ""
        for start, end in reversed(split.sentences(chunk) or [(0, len(chunk))]):
            sentence = chunk[start:end]
            size = self.size(sentence) + (self.size(taken) + self.size(join) if taken else 0)
            if not self.overlap or size > self.overlap:
                break
            taken = sentence + join + taken if taken else sentence
        return taken


def cut_at(pattern: str, text: str) -> list[str]:
    parts = re.split(pattern, text)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def check(level: str, text: str, limit: int, overlap: int, count: Callable[[str], int]) -> None:
    finer = FINER if level != "recursive" else {**FINER, "paragraph": "line"}
    plain = Plain("paragraph" if level == "recursive" else level, limit, overlap, count, finer)
    make = getattr(split, level)
    if count is len:
        splitter = make(max_chars=limit, overlap_chars=overlap)
    else:
        splitter = make(max_tokens=limit, overlap_tokens=overlap, tokenizer=count)
    try:
        expected = plain.split(text)
    except NothingFinerError:
        assume(False)
    assert worded(splitter(Document.from_text(text))) == expected


LEVELS = st.sampled_from([*JOINS, "recursive"])


@given(level=LEVELS, text=texts(), limit=st.integers(1, 80), share=st.sampled_from([0, 0.1, 0.3, 0.6, 1]))
def test_in_characters(level: str, text: str, limit: int, share: float):
    check(level, text, limit, int(limit * share), len)


@given(level=LEVELS, text=texts(), limit=st.integers(2, 30), share=st.sampled_from([0, 0.1, 0.3, 0.6, 1]))
def test_by_a_counter_that_does_not_add_up(level: str, text: str, limit: int, share: float):
    check(level, text, limit, int(limit * share), lambda text: (len(text) + 3) // 4)


@given(level=LEVELS, text=texts(), limit=st.integers(2, 30), share=st.sampled_from([0, 0.1, 0.3, 0.6, 1]))
def test_in_words(level: str, text: str, limit: int, share: float):
    check(level, text, limit, int(limit * share), words)
