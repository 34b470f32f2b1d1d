"""What is right for an embedder when nobody says: how large chunks are, and what counts them.

splitter = await default_splitter(registry, "local/all-minilm-l6-v2")     # 254 tokens, 25 of them overlap
"""

import re
from collections.abc import Callable
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from flowkit.ai.embed import embedder_info
from flowkit.core.registry import Registry
from flowkit.rag import split
from flowkit.rag.split.auto import Auto

__all__ = ["MAX_TOKENS", "default_splitter", "estimated_tokens", "tokenizer_of"]

MAX_TOKENS = 300
_OVERLAP_SHARE = 10
_splitters: WeakKeyDictionary[Registry, dict[tuple[str, int, int], Auto]] = WeakKeyDictionary()
_RUN = re.compile(r"[0-9A-Za-z]+|[^\W_]|\S")
_CHARACTERS_PER_TOKEN = 4


@runtime_checkable
class _HasTokenizer(Protocol):
    """What a plugin offers beside its actions when it knows how its embedders count."""

    name: str

    def tokenizer(self, embedder: str) -> split.Tokenizer: ...


async def default_splitter(
    registry: Registry, embedder: str, *, max_tokens: int | None = None, overlap_tokens: int | None = None
) -> Auto:
    """`split.auto` with chunks of 300 tokens, or of what the embedder takes at once when that is less.

    A tenth of a chunk overlaps. The embedder's own tokenizer counts, where its plugin has one; else tokens are
    estimated. Text that an embedder cannot take at once is embedded by windows, or cut by the service behind it.
    """
    action = await registry.find("embedder", embedder)
    limit = embedder_info(action).max_input_tokens or MAX_TOKENS
    size = min(MAX_TOKENS, limit) if max_tokens is None else max_tokens
    overlap = size // _OVERLAP_SHARE if overlap_tokens is None else overlap_tokens
    tokenizer = tokenizer_of(registry, action.name)
    # One splitter, which knows what it has cut.
    made = _splitters.setdefault(registry, {})
    key = (action.name, size, overlap)
    if key not in made:
        made[key] = split.auto(max_tokens=size, overlap_tokens=overlap, tokenizer=tokenizer)
    return made[key]


def tokenizer_of(registry: Registry, embedder: str) -> split.Tokenizer | Callable[[str], int]:
    """The tokenizer of an embedder, by its full name; `estimated_tokens` when its plugin does not offer it."""
    for plugin in registry.plugins:
        if embedder.startswith(f"{plugin.name}/") and isinstance(plugin, _HasTokenizer):
            return plugin.tokenizer(embedder)
    return estimated_tokens


def estimated_tokens(text: str) -> int:
    """Rather too many than too few: a token for every four letters of a word, and one for each other character."""
    return sum(-(-len(run) // _CHARACTERS_PER_TOKEN) for run in _RUN.findall(text))
