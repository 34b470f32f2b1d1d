"""Ask restaurant menus: PDFs are indexed once, then questions are answered from them. No key, no network.

flowkit flow:run indexMenu dinner.pdf
flowkit flow:run menuQA "Which dessert is vegan?" --stream
"""

from pathlib import Path

from pydantic import BaseModel

from flowkit import Citation, Flowkit, RunContext, ScoredDocument
from flowkit.rag import parse, split
from flowkit_devstore import DevStore
from flowkit_local import Local

ai = Flowkit(
    # Hybrid: by meaning and by words. The bundled embedder knows little German; the words make up for it.
    plugins=[Local(), DevStore("menu", embedder="local/all-minilm-l6-v2", mode="hybrid")],
    model="local/extractive",
)
cut = split.paragraph(max_chars=400, overlap_chars=0)  # long ones at sentences: none is cut in two


class Source(BaseModel):
    """A sentence that the answer rests on, and where it is printed."""

    file: str | None
    page: int | None
    quote: str
    score: float
    """Of the chunk that has the sentence, 0 to 1."""


class Answer(BaseModel):
    """What the menus say, and where they say it."""

    text: str
    citations: list[Source]


@ai.flow("indexMenu")
async def index_menu(path: Path) -> int:
    """Index a menu (PDF); returns the number of chunks written: 0 when all of it is there already."""
    menu = await ai.run("extract-text", parse.pdf, path, source_name=path.name)
    chunks = await ai.run("chunk-it", cut, menu)
    report = await ai.index("menu", chunks)
    return report.written


@ai.flow("menuQA")
async def menu_qa(question: str, ctx: RunContext) -> Answer:
    """Answer a question from the menus, and only from them. The text is streamed."""
    hits = await ai.retrieve("menu", question, k=3)
    response = await ai.generate(prompt=question, docs=hits, on_chunk=lambda chunk: ctx.send_chunk(chunk.text))
    return Answer(text=response.text, citations=[_source(citation, hits) for citation in response.citations])


def _source(citation: Citation, hits: list[ScoredDocument]) -> Source:
    score = next((hit.score for hit in hits if hit.id == citation.document_id), 0.0)
    return Source(file=citation.source, page=citation.page, quote=" ".join(citation.quote.split()), score=score)
