"""The plugin: embedders and a model that need neither keys nor network.

ai = Flowkit(plugins=[Local()], model="local/extractive")
"""

import builtins
import re
from collections.abc import Mapping
from functools import cached_property

from flowkit.errors import InvalidInputError, NotFoundError
from flowkit.plugin import ActionInfo, EmbedderInfo, Kind, Registry, make_model, run_in_thread
from flowkit_local.embedder import (
    MINILM,
    MINILM_INFO,
    AnyAction,
    OnnxEmbedder,
    embedder_action,
    minilm_encoder,
    onnx_info,
)
from flowkit_local.encoder import Encoder
from flowkit_local.extractive import CONFIG_SCHEMA, EXTRACTIVE_INFO, Extractive
from flowkit_local.tokenizer import Tokenizer
from flowkit_local.weights import MINILM_SHA256, TOKENIZER_SHA256, check, minilm_files, model_files

__all__ = ["Local"]

_EXTRACTIVE = "extractive"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


class Local:
    """Serves `local/all-minilm-l6-v2` and `local/extractive`, and one `local/<name>` for each of `embedders`.

    Args:
        embedders: exported ONNX models by name: lower-case letters, digits, dots, dashes.
        threads: texts embedded at a time; default: one per available processor, at most 2.
    """

    name = "local"

    def __init__(self, *, embedders: Mapping[str, OnnxEmbedder] | None = None, threads: int | None = None) -> None:
        self._specs = dict(embedders or {})
        for name, spec in self._specs.items():
            if not _NAME.fullmatch(name) or name == MINILM:
                raise InvalidInputError(
                    f"an embedder cannot be named {name!r}",
                    hint="use lower-case letters, digits, dots and dashes, and another name than the bundled model's",
                )
            if not isinstance(spec, OnnxEmbedder):
                raise InvalidInputError(
                    f"embedder {name!r} is a {type(spec).__name__}", hint="give OnnxEmbedder(folder, pooling=…)"
                )
        self._encoders: dict[str, Encoder] = {MINILM: minilm_encoder(threads=threads)}
        self._encoders |= {name: spec.encoder(threads=threads) for name, spec in self._specs.items()}

    async def setup(self, registry: Registry) -> None:
        """Nothing to do: models load with the first text."""

    async def resolve(self, kind: Kind, name: str) -> AnyAction | None:
        """The embedder or model of that name."""
        _, _, short = name.partition("/")
        if kind == "model" and short == _EXTRACTIVE:
            return self._model()
        if kind != "embedder" or short not in self._encoders:
            return None
        encoder = self._encoders[short]
        spec = self._specs.get(short)
        info = MINILM_INFO if spec is None else await onnx_info(short, spec, encoder)
        return embedder_action(name, encoder, info)

    def list(self) -> builtins.list[ActionInfo]:
        """What there is; exported models are not opened for it."""
        return [*self._infos]

    @cached_property
    def _infos(self) -> builtins.list[ActionInfo]:
        # Kept, because the registry asks whenever an action is named by the last part of its name.
        infos = {MINILM: MINILM_INFO}
        infos |= {name: EmbedderInfo(label=f"{name}, on this machine") for name in self._specs}
        actions = [embedder_action(f"local/{name}", self._encoders[name], info) for name, info in infos.items()]
        actions.append(self._model())
        return [ActionInfo(action.kind, action.name, action.description, action.metadata) for action in actions]

    def tokenizer(self, embedder: str = f"local/{MINILM}") -> Tokenizer:
        """The tokenizer of an embedder, for splitters: `split.recursive(max_tokens=254, tokenizer=…)`.

        Raises:
            NotFoundError: there is no embedder of that name.
        """
        encoder = self._encoders.get(embedder.removeprefix("local/"))
        if encoder is None:
            raise NotFoundError(
                f"no embedder {embedder!r}", hint=f"there are: {', '.join(f'local/{name}' for name in self._encoders)}"
            )
        return encoder.tokenizer

    async def check(self) -> str:
        """Whether the files of every model are there, and the bundled ones whole.

        Raises:
            ConfigError, StoreError: they are not.
        """

        def look() -> None:
            for file, sha256 in zip(minilm_files(), (MINILM_SHA256, TOKENIZER_SHA256), strict=True):
                check(file, sha256)
            for spec in self._specs.values():
                model_files(spec.path)

        await run_in_thread(look)
        count = 1 + len(self._specs)
        return f"{count} embedder{'' if count == 1 else 's'}, all files are there"

    async def aclose(self) -> None:
        """End the threads and let the models go."""
        for encoder in self._encoders.values():
            await encoder.aclose()

    def _model(self) -> AnyAction:
        extractive = Extractive(self._encoders[MINILM])
        return make_model(f"local/{_EXTRACTIVE}", extractive.answer, info=EXTRACTIVE_INFO, config_schema=CONFIG_SCHEMA)
