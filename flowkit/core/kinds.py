"""The kinds of action, and their keys.

action_key("flow", "menuQA")       "/flow/menuQA"
"""

from typing import Literal, get_args

from flowkit.errors import InvalidInputError

__all__ = ["KINDS", "Kind", "action_key", "split_key"]

Kind = Literal[
    "flow", "model", "embedder", "indexer", "retriever", "reranker", "tool", "prompt", "evaluator", "resource", "util"
]
KINDS: tuple[Kind, ...] = get_args(Kind)


def action_key(kind: Kind, name: str) -> str:
    return f"/{kind}/{name}"


def split_key(key: str) -> tuple[Kind, str]:
    """Kind and name of a key.

    Raises:
        InvalidInputError: the key has not the form `/<kind>/<name>`.
    """
    empty, _, rest = key.partition("/")
    kind, _, name = rest.partition("/")
    if empty or not name or kind not in KINDS:
        raise InvalidInputError(f"{key!r} is no action key", hint="keys look like /flow/menuQA")
    return kind, name
