"""How good the answers of `local/extractive` are, with retrieval of 3 paragraphs.

    python -m tests.benchmarks.answers FOLDER            # corpus.jsonl, queries.jsonl with answers, qrels.tsv
    python -m tests.benchmarks.answers FOLDER --mode keyword   # for languages that the embedder cannot read
    python -m tests.benchmarks.answers FOLDER --every 5  # a fifth of the questions

Three figures: how often the first sentence of an answer, and the first two, hold a gold answer; how often it answers a
question whose paragraph is there; and how often it says that it does not know when that paragraph and its neighbours
are left out. A threshold is chosen on the even questions and judged on the odd ones, beside the one that is set.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from flowkit import Document, F, Filter, Flowkit
from flowkit.plugin import SearchMode
from flowkit_devstore import DevStore
from flowkit_local import Local

K = 3
NEIGHBOURS = 10
BARS = {"first": 0.76, "two": 0.87, "answered": 0.93, "refused": 0.85}


class Question(NamedTuple):
    text: str
    answers: list[str]
    position: int
    """Of its own paragraph."""


class Outcome(NamedTuple):
    number: int
    quotes: list[str]
    score: float
    answers: list[str]

    def hit(self, count: int) -> bool:
        return any(plain(gold) in plain(quote) for gold in self.answers for quote in self.quotes[:count])


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


def read(folder: Path) -> tuple[list[Document], list[Question]]:
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    places = {row["_id"]: at for at, row in enumerate(rows)}
    documents = [
        Document.from_text(row["text"], {"source": row["_id"], "position": at}, id=row["_id"])
        for at, row in enumerate(rows)
        if row["text"].strip()
    ]
    own = dict(line.split("\t")[:2] for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:])
    questions = []
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        questions.append(Question(row["text"], row["metadata"]["answers"], places[own[row["_id"]]]))
    return documents, questions


async def ask(ai: Flowkit, question: Question, number: int, where: Filter | None, threshold: float | None) -> Outcome:
    docs = await ai.retrieve("answers", question.text, k=K, where=where)
    config: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
    response = await ai.generate(prompt=question.text, docs=docs, config=config)
    return Outcome(number, [each.quote for each in response.citations], response.custom["score"], question.answers)


async def run(folder: Path, every: int, mode: SearchMode) -> None:
    documents, questions = read(folder)
    # Pairs of neighbours, so that there are even and odd numbers.
    numbers = [number for number in range(len(questions)) if number // 2 % every == 0]
    with tempfile.TemporaryDirectory() as scratch:
        local = Local()
        store = DevStore("answers", embedder="local/all-minilm-l6-v2", mode=mode, folder=Path(scratch))
        async with Flowkit(plugins=[local, store], model="local/extractive") as ai:
            await ai.index("answers", documents)
            there, away = [], []
            for number in numbers:
                question = questions[number]
                there.append(await ask(ai, question, number, None, 0.0))
                far = (F("position") < question.position - NEIGHBOURS) | (
                    F("position") > question.position + NEIGHBOURS
                )
                away.append(await ask(ai, question, number, far, 0.0))
            standard = (await ai.generate(prompt="?", docs=documents[:1])).custom["threshold"]
    print(f"{folder.name}: {len(documents)} paragraphs, {len(there)} questions")
    show("first", share(outcome.hit(1) for outcome in there), "the first sentence holds a gold answer")
    show("two", share(outcome.hit(2) for outcome in there), "the first two sentences hold one")
    chosen = best_threshold([o for o in there if o.number % 2 == 0], [o for o in away if o.number % 2 == 0])
    odd_there, odd_away = [o for o in there if o.number % 2], [o for o in away if o.number % 2]
    for label, threshold in (
        (f"threshold as set, {standard}", standard),
        (f"chosen on even questions, {chosen}", chosen),
    ):
        print(f" {label}; on odd questions:")
        show("answered", share(outcome.score >= threshold for outcome in odd_there), "questions that have an answer")
        show("refused", share(outcome.score < threshold for outcome in odd_away), "questions whose paragraph is away")


def share(outcomes: Iterator[bool]) -> float:
    counted = list(outcomes)
    return sum(counted) / len(counted) if counted else float("nan")


def show(name: str, value: float, meaning: str) -> None:
    print(f"  {value:.4f} {name:9} {meaning} (bar {BARS[name]:.2f}) {'ok' if value >= BARS[name] else 'BELOW'}")


def best_threshold(there: Sequence[Outcome], away: Sequence[Outcome]) -> float:
    """Where answering and refusing are right most often together."""
    scores = sorted({round(outcome.score, 2) for outcome in (*there, *away)})
    return max(
        scores,
        key=lambda at: share(o.score >= at for o in there) + share(o.score < at for o in away),
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", nargs="?", type=Path, help="without one, nothing is measured")
    arguments.add_argument("--every", type=int, default=1, help="take each N-th pair of questions")
    arguments.add_argument("--mode", choices=get_args(SearchMode), default="hybrid", help="keyword for other languages")
    given = arguments.parse_args()
    if given.folder is None:
        print("give a folder with corpus.jsonl, queries.jsonl and qrels.tsv; nothing is measured without one")
    else:
        asyncio.run(run(given.folder, given.every, given.mode))
