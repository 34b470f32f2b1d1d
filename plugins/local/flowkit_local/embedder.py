"""Embedders as actions: the bundled all-MiniLM-L6-v2, and any exported ONNX folder.

Local(embedders={"bge": OnnxEmbedder("models/bge-small-en", pooling="cls")})      # local/bge
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

from flowkit.errors import InvalidInputError
from flowkit.plugin import (
    Action,
    EmbedderInfo,
    Embedding,
    EmbedRequest,
    EmbedResponse,
    EmbedTask,
    Usage,
    embedded_text,
    make_embedder,
    run_in_thread,
)
from flowkit_local.encoder import Encoder
from flowkit_local.session import Pooling
from flowkit_local.weights import MINILM_SHA256, TOKENIZER_SHA256, fingerprint, minilm_files, model_files

__all__ = ["MINILM", "MINILM_INFO", "OnnxEmbedder", "embedder_action", "minilm_encoder", "onnx_info"]

AnyAction = Action[Any, Any, Any]

MINILM = "all-minilm-l6-v2"

_MINILM_TOKENS = 256
# Sorting by length works better over more texts, and an interrupted run loses one batch.
_BATCH = 256

MINILM_INFO = EmbedderInfo(
    label="all-MiniLM-L6-v2, on this machine",
    dimensions=384,
    max_input_tokens=_MINILM_TOKENS - 2,
    max_batch_size=_BATCH,
    revision=MINILM_SHA256[:16],
    supports={"input": ["text"], "multilingual": False},
)


@dataclass(frozen=True, slots=True)
class OnnxEmbedder:
    """A text encoder that was exported to ONNX, with its tokenizer.

    Args:
        folder: holds `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`.
        pooling: how token states become a vector; the model's card says which ("cls" for bge, "mean" for e5, gte).
        query_prefix: put before queries, for instance "query: ".
        document_prefix: put before documents, for instance "passage: ".
        max_tokens: what the model takes at once, marks and prefix included; longer texts are embedded by windows.
        normalize: give vectors of length 1.
    """

    folder: str | Path
    pooling: Pooling = "mean"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 512
    normalize: bool = True

    def __post_init__(self) -> None:
        if self.pooling not in get_args(Pooling):
            raise InvalidInputError(
                f"pooling is {self.pooling!r}", hint="give 'mean' or 'cls', whichever the model was trained with"
            )
        if type(self.max_tokens) is not int or self.max_tokens < 8:
            raise InvalidInputError(f"max_tokens is {self.max_tokens!r}", hint="512 for most models")

    @property
    def path(self) -> Path:
        return Path(self.folder).expanduser()

    def encoder(self, *, threads: int | None = None) -> Encoder:
        """What does the work; reads nothing yet."""
        return Encoder(
            partial(model_files, self.path),
            pooling=self.pooling,
            max_tokens=self.max_tokens,
            query_prefix=self.query_prefix,
            document_prefix=self.document_prefix,
            normalize=self.normalize,
            threads=threads,
        )


def minilm_encoder(*, threads: int | None = None) -> Encoder:
    """all-MiniLM-L6-v2: English, 384 dimensions, trained on up to 256 tokens. Reads nothing yet."""
    return Encoder(
        minilm_files,
        pooling="mean",
        max_tokens=_MINILM_TOKENS,
        hashes=(MINILM_SHA256, TOKENIZER_SHA256),
        threads=threads,
    )


async def onnx_info(name: str, spec: OnnxEmbedder, encoder: Encoder) -> EmbedderInfo:
    """What an exported model says about itself; loads it.

    Raises:
        ConfigError: a file is missing, or is no text encoder.
    """
    revision = await run_in_thread(_revision, (spec,))
    return EmbedderInfo(
        label=f"{name}, on this machine",
        dimensions=await encoder.dimension(),
        max_input_tokens=encoder.max_text_tokens,
        max_batch_size=_BATCH,
        revision=revision,
        supports={"input": ["text"]},
    )


def _revision(spec: OnnxEmbedder) -> str:
    """Changes whenever vectors may: with the files, and with how they are used."""
    model, tokenizer = model_files(spec.path)
    files = [model, tokenizer, *sorted(model.parent.glob(f"{model.name}?data"))]
    use = (spec.pooling, spec.query_prefix, spec.document_prefix, spec.max_tokens, spec.normalize)
    return fingerprint(*files, extra=repr(use))


def embedder_action(name: str, encoder: Encoder, info: EmbedderInfo) -> AnyAction:
    """The action of an embedder. `name` is the full one, such as `local/all-minilm-l6-v2`."""

    async def embed(request: EmbedRequest, task: EmbedTask = "document") -> EmbedResponse:
        texts = list(map(embedded_text, request.input))
        encoded = await encoder.encode(texts, task=task)
        # model_construct: the numbers are finite floats already, and there are hundreds in each of many vectors.
        vectors = tuple(Embedding.model_construct(vector=tuple(row)) for row in encoded.vectors.tolist())
        return EmbedResponse.model_construct(
            embeddings=vectors,
            usage=Usage(input_tokens=encoded.tokens, total_tokens=encoded.tokens),
            custom={"windowed": encoded.windowed} if encoded.windowed else None,
        )

    embed.__doc__ = f"Embeds text with {info.label}."
    return make_embedder(name, embed, info=info)
