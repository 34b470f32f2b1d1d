"""`rag:ask` at work: retrieve, generate, and show on what the answer rests.

exit_code = ask(target, "How do I cancel?", k=5, model=None, where=None, as_json=False)
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rich.text import Text

from flowkit.cli.lines import CliError, one_line, say, write
from flowkit.cli.rag_apps import Target, finish
from flowkit.cli.running import run_work
from flowkit.cli.tables import print_json, print_lines, styled
from flowkit.core.spans import SpanRecord
from flowkit.errors import InvalidInputError
from flowkit.rag.easy import EASY_MODEL
from flowkit.schema.documents import ScoredDocument
from flowkit.schema.filters import F
from flowkit.schema.model import Citation, GenerateResponse

__all__ = ["ask"]

_QUOTE = 160  # characters of a quotation that are shown


class _Answer(NamedTuple):
    response: GenerateResponse
    hits: list[ScoredDocument]


def ask(target: Target, question: str, *, k: int, model: str | None, where: str | None, as_json: bool) -> int:
    """Answer, print, say the trace's id; returns the exit code.

    Raises:
        CliError: `where` is no condition.
    """
    ai = target.ai
    try:
        condition = None if where is None else F.parse(where)
    except InvalidInputError as error:
        raise CliError(f"--where: {error.message}", hint=error.hint) from None
    traces: list[str] = []

    def seen(span: SpanRecord) -> None:
        traces.append(span.trace_hex)

    async def answer(asked: str) -> _Answer:
        hits = await ai.retrieve(target.index, asked, k=k, where=condition)
        chosen = model or ai.default_model or EASY_MODEL
        return _Answer(await ai.generate(prompt=asked, docs=hits, model=chosen), hits)

    ai.runtime.on_span = seen

    async def work() -> _Answer:
        return await ai.run("rag:ask", answer, question)

    outcome = run_work(ai, work)
    try:
        exit_code = finish(outcome, interrupted="interrupted")
        if outcome.result is not None:
            _show(outcome.result, traces[0] if traces else None, as_json=as_json)
    finally:
        if traces:
            say(f"Trace ID: {traces[0]}", "dim")
    return exit_code


def _show(answer: _Answer, trace_id: str | None, *, as_json: bool) -> None:
    response, hits = answer
    if as_json:
        print_json(
            {
                "answer": response.text,
                "citations": [_citation(citation, hits) for citation in response.citations],
                "sources": [_source(hit) for hit in hits],
                "traceId": trace_id,
            }
        )
        return
    write(response.text.rstrip() + "\n")
    print_lines(_lines(response.citations, hits))


def _lines(citations: Sequence[Citation], hits: Sequence[ScoredDocument]) -> Iterator[Text]:
    if citations:
        yield Text()
        for citation in citations:
            hit = _hit_of(citation, hits)
            yield _line(citation.source, _place(hit, citation.page), hit.score if hit else None)
            quote = " ".join(citation.quote.split())
            short = quote if len(quote) <= _QUOTE else quote[: _QUOTE - 1] + "…"
            yield styled(f"    “{short}”", "dim")
    elif hits:
        yield Text()
        yield styled("Looked at:", "dim")
        for hit in hits:
            yield _line(hit.source, _place(hit, None), hit.score)


def _line(source: str | None, place: str, score: float | None) -> Text:
    told = "" if score is None else f"  {score:.2f}"
    return Text.assemble("  ", styled(one_line(source or "(no source)"), "accent"), place, styled(told, "dim"))


def _hit_of(citation: Citation, hits: Sequence[ScoredDocument]) -> ScoredDocument | None:
    return next((hit for hit in hits if hit.id is not None and hit.id == citation.document_id), None)


def _place(hit: ScoredDocument | None, page: int | None) -> str:
    """Page or heading, as it stands behind the file's name."""
    metadata: Any = hit.metadata if hit is not None else {}
    page = page if page is not None else metadata.get("page")
    heading = metadata.get("heading")
    if page is not None:
        return f", page {page}"
    return f", {one_line(str(heading))}" if heading else ""


def _citation(citation: Citation, hits: Sequence[ScoredDocument]) -> dict[str, Any]:
    hit = _hit_of(citation, hits)
    heading = hit.metadata.get("heading") if hit is not None else None
    return {**citation.to_wire(), "heading": heading, "score": hit.score if hit is not None else None}


def _source(hit: ScoredDocument) -> dict[str, Any]:
    metadata = hit.metadata
    return {
        "documentId": hit.id,
        "source": hit.source,
        "page": metadata.get("page"),
        "heading": metadata.get("heading"),
        "score": hit.score,
        "text": hit.text,
    }
