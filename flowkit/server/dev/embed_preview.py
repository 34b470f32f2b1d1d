"""What an embedder makes of some texts: it is run, as a traced run, and its vectors are compared.

operations = embed_operations(runs)
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator

from flowkit.core.threads import run_in_thread
from flowkit.errors import BackendError, InvalidInputError
from flowkit.schema.embedding import EmbedResponse, EmbedTask
from flowkit.schema.text import is_blank
from flowkit.schema.wire import JSON, Wire
from flowkit.server.dev.runs import Run, Runs
from flowkit.server.dev.shapes import RunInfo, RunStart
from flowkit.server.errors import told_error
from flowkit.server.operations import Call, Operation
from flowkit.server.preview.vectors import Compared, compare

__all__ = ["EmbedPreview", "EmbedPreviewData", "TextVector", "embed_operations"]

_MAX_TEXTS = 50
_FIRST = 8
_Text = Annotated[str, Field(max_length=20_000)]


class EmbedPreview(Wire):
    """Texts for an embedder, at most 50 of at most 20,000 characters."""

    key: str = Field(pattern="^/embedder/.")
    """`/embedder/local/all-minilm-l6-v2`."""
    texts: tuple[_Text, ...] = Field(min_length=1, max_length=_MAX_TEXTS)
    task: EmbedTask | None = None
    """Whether the texts are documents or queries; absent, the embedder decides."""
    options: dict[str, JSON] | None = None
    runtime_id: str | None = None

    @field_validator("texts")
    @classmethod
    def _not_blank(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        blank = [str(at) for at, text in enumerate(texts) if is_blank(text)]
        if blank:
            raise ValueError(f"blank texts have no vector: {', '.join(blank)} (counted from 0)")
        return texts


class TextVector(Wire):
    """The vector of one text."""

    norm: float
    first: tuple[float, ...]
    """Its first eight values."""
    x: float
    y: float
    """Its place on the plane of the two principal components."""


class EmbedPreviewData(Wire):
    """Vectors in the order of the texts."""

    key: str
    dimension: int
    vectors: tuple[TextVector, ...]
    similarity: tuple[tuple[float, ...], ...]
    """Cosine of each with each, -1…1."""
    explained: tuple[float, float]
    """The share of all variance that x and y show."""
    duration_ms: float
    """Of the embedder's run."""
    run: RunInfo


def embed_operations(runs: Runs) -> Sequence[Operation]:
    """The operation."""

    async def preview(call: Call) -> EmbedPreviewData:
        asked: EmbedPreview = call.body
        options = dict(asked.options or {}) | ({} if asked.task is None else {"task": asked.task})
        given: dict[str, Any] = {"input": [{"content": [{"text": text}]} for text in asked.texts]}
        if options:
            given["options"] = options
        run = await runs.start(RunStart(key=asked.key, input=given, stream=False, runtime_id=asked.runtime_id))
        response = await _result(run, asked)
        compared: Compared = await run_in_thread(compare, ([item.vector for item in response.embeddings],))
        vectors = [
            TextVector(norm=norm, first=item.vector[:_FIRST], x=x, y=y)
            for item, norm, (x, y) in zip(response.embeddings, compared.norms, compared.points, strict=True)
        ]
        return EmbedPreviewData(
            key=asked.key,
            dimension=response.embeddings[0].dimension,
            vectors=tuple(vectors),
            similarity=tuple(map(tuple, compared.similarity)),
            explained=compared.explained,
            duration_ms=run.info.duration_ms or 0.0,
            run=run.info,
        )

    return [
        Operation(
            "previewEmbed",
            "POST",
            "/api/embed-preview",
            "What an embedder makes of some texts, compared",
            preview,
            body=EmbedPreview,
            answer=EmbedPreviewData,
            body_bytes=10_000_000,
        )
    ]


async def _result(run: Run, asked: EmbedPreview) -> EmbedResponse:
    """The vectors, when the run has ended.

    Raises:
        FlowkitError: what the embedder says is wrong; `details.traceId` is that of its run.
    """
    last: dict[str, Any] = {}
    async for event in run.follow():
        last = event if event["type"] == "ended" else last
    if "error" in last:
        ids = {"traceId": run.info.trace_id, "runId": run.info.run_id}
        told: dict[str, Any] = last["error"]
        raise told_error({**told, "details": {**told.get("details", {}), **ids}})
    try:
        response = EmbedResponse.from_wire(last.get("result"))
    except ValidationError as error:
        raise BackendError(f"{asked.key} gave no vectors: {error.errors()[0]['msg']}") from None
    dimensions = {item.dimension for item in response.embeddings}
    if len(response.embeddings) != len(asked.texts) or len(dimensions) != 1 or 0 in dimensions:
        raise InvalidInputError(
            f"{asked.key} gave {len(response.embeddings)} vectors of {sorted(dimensions)} dimensions "
            f"for {len(asked.texts)} texts",
            hint="an embedder returns one vector for each text, all of one length",
        )
    return response
