"""The kinds of action, and their keys.

action_key("flow", "menuQA")       "/flow/menuQA"
"""

import re
from typing import Literal, get_args

from flowkit.errors import ConfigError, InvalidInputError
from flowkit.schema.text import is_blank

__all__ = ["KINDS", "Kind", "action_key", "check_name", "split_key"]

Kind = Literal[
    "flow", "model", "embedder", "indexer", "retriever", "reranker", "tool", "prompt", "evaluator", "resource", "util"
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def action_key(kind: Kind, name: str) -> str:
    return f"/{kind}/{name}"


def check_name(kind: Kind, name: object) -> None:
    """Refuse what no command line and no address could say.

    Raises:
        ConfigError: the name is blank, no text, or has control characters or lone surrogates in it.
    """
    if not isinstance(name, str) or is_blank(name) or name == "<lambda>":
        raise ConfigError(f"a {kind} needs a name, not {name!r}", hint=f'write @ai.{kind}("name")')
    if _UNFIT.search(name):
        raise ConfigError(f"{kind} {name!r} has control characters in its name", hint="take them out")


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
