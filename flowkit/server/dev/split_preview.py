"""Cutting a text or a file before anything is written: which splitters there are, and what each would make of it.

operations = split_operations(root, apps, workbench)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from flowkit.schema.documents import Document
from flowkit.schema.wire import Wire
from flowkit.server.dev.apps import Apps
from flowkit.server.dev.files import project_file
from flowkit.server.dev.workbench import Workbench
from flowkit.server.operations import Call, Operation
from flowkit.server.preview.shapes import MAX_CHARS, PATTERNS, SplitPreviewData, SplitterData

__all__ = ["SplitPreview", "SplitterList", "split_operations"]

_SECONDS = 60.0  # a tokenizer may have to load


class SplitterList(Wire):
    splitters: tuple[SplitterData, ...]
    """The first one is the default."""


class SplitPreview(Wire):
    """Exactly one of `text` and `path`: a file of the project, or an upload, relative to the project."""

    text: str | None = Field(None, min_length=1, max_length=MAX_CHARS)
    path: str | None = Field(None, min_length=1, max_length=4_000)
    source: str | None = Field(None, max_length=1_000)
    """The name of a text; by its ending `auto` and `code` go."""
    splitter: str = "auto"
    settings: dict[str, Any] = Field(default_factory=dict)
    embedder: str | None = None
    """Tokens are counted as this embedder does, and its limit is the default one; without it they are estimated."""
    runtime_id: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.text is None) == (self.path is None):
            raise ValueError("give a text or a path, and not both")
        return self


def split_operations(root: Path, apps: Apps, workbench: Workbench) -> Sequence[Operation]:
    """The operations."""

    known: SplitterList | None = None

    async def splitters(call: Call) -> SplitterList:
        nonlocal known
        known = known or SplitterList.from_wire(await workbench.do({"list": True}))
        return known

    async def preview(call: Call) -> SplitPreviewData:
        asked: SplitPreview = call.body
        request = _material(root, asked)
        how = {"splitter": asked.splitter, "settings": asked.settings}
        # A regular expression that never ends must not hang the app, so there the app's tokenizer is done without.
        if asked.embedder is not None and asked.splitter not in PATTERNS:
            if "path" in request:
                request = {"document": (await workbench.do(request))["document"]}
            runtime = await apps.pick(asked.runtime_id)
            body = {**request, **how, "embedder": asked.embedder}
            told = await apps.call(runtime, "/api/splitPreview", body, timeout_seconds=_SECONDS)
        else:
            told = (await workbench.do({**request, **how}))["preview"]
        return SplitPreviewData.from_wire(told)

    return [
        Operation(
            "listSplitters",
            "GET",
            "/api/splitters",
            "Ways to cut a text, with their settings",
            splitters,
            answer=SplitterList,
        ),
        Operation(
            "previewSplit",
            "POST",
            "/api/split-preview",
            "How a text or a file would be cut",
            preview,
            body=SplitPreview,
            answer=SplitPreviewData,
        ),
    ]


def _material(root: Path, asked: SplitPreview) -> dict[str, Any]:
    if asked.path is not None:
        path, source = project_file(root, asked.path)
        return {"path": str(path), "source": source}
    named = {} if asked.source is None else {"source": asked.source}
    return {"document": Document.from_text(asked.text or "", named).to_wire()}
