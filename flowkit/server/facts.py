"""What developer tools of ours are told of an action, beyond what Genkit's list of actions has room for.

    with_facts(describe_actions(registry), registry, root)["/flow/menuQA"]["flowkit"]  # {"source": …, "streams": …}

Nothing is made for it: an action that a plugin would make on demand has few facts.
"""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.functions import look_at, origin, plain_function, style_of
from flowkit.core.plugin import ActionInfo, Plugin
from flowkit.core.registry import Registry
from flowkit.errors import FlowkitError
from flowkit.rag.stores.serve import StorePlugin, served_by
from flowkit.schema.model import GenerateResponseChunk
from flowkit.server.draft07 import as_draft07

__all__ = ["with_facts"]

_STREAMING_KINDS = ("flow", "model", "tool", "util")
"""Of other kinds, what a generator yields is its result."""
_known: WeakKeyDictionary[Action[Any, Any, Any], dict[str, Any]] = WeakKeyDictionary()


def with_facts(listed: Mapping[str, Mapping[str, Any]], registry: Registry, root: Path) -> dict[str, dict[str, Any]]:
    """A list of actions in which each has its facts, as `flowkit`.

    They are `source`, `chunkSchema`, `streams` and `index`, each only where it is known.
    """
    facts = _facts(registry, root)
    return {key: {**described, "flowkit": facts.get(key, {})} for key, described in listed.items()}


def _facts(registry: Registry, root: Path) -> dict[str, dict[str, Any]]:
    made = {action.key: action for action in registry.registered()}
    plugins = {info.key: plugin for plugin in registry.plugins for info in plugin.list()}
    found = {}
    for info in registry.list():
        action = made.get(info.key)
        facts = {} if action is None else dict(_of_action(action, root))
        if info.kind in ("indexer", "retriever"):
            facts |= _index(info, action, plugins.get(info.key))
        found[info.key] = facts
    return found


def _of_action(action: Action[Any, Any, Any], root: Path) -> Mapping[str, Any]:
    facts = _known.get(action)
    if facts is None:
        facts = _known[action] = {"source": _source(action, root), "streams": _streams(action), **_chunks(action)}
    return facts


def _source(action: Action[Any, Any, Any], root: Path) -> dict[str, Any]:
    """Module and name of the function; its file and line, if the file belongs to the project."""
    inner = plain_function(action)
    source: dict[str, Any] = {"function": origin(action)}
    code = getattr(inner, "__code__", None)
    try:
        file = code.co_filename if code is not None else inspect.getsourcefile(inner)
        line = code.co_firstlineno if code is not None else inspect.getsourcelines(inner)[1]
    except (OSError, TypeError):  # written in C, or in a console
        return source
    path = Path(file or "")
    if not path.is_file() or not path.resolve().is_relative_to(root.resolve()):
        return source
    inside = path.resolve().relative_to(root.resolve())
    if "site-packages" not in inside.parts:
        source |= {"file": inside.as_posix(), "line": line}
    return source


def _streams(action: Action[Any, Any, Any]) -> bool:
    """Whether it may send chunks: its function is a generator, or takes the context, by which chunks are sent."""
    fn = action.__wrapped__
    if action.kind in _STREAMING_KINDS and style_of(fn).endswith("stream"):
        return True
    try:
        hints = look_at(fn, action.key).hints
    except FlowkitError:
        return False
    return any(hint is RunContext for hint in hints.values())


def _chunks(action: Action[Any, Any, Any]) -> dict[str, Any]:
    """The schema of its chunks, where they have a type."""
    if action.kind == "model":
        return {"chunkSchema": as_draft07(GenerateResponseChunk.model_json_schema(by_alias=True))}
    try:
        schema = action.chunk_schema
    except (FlowkitError, TypeError, ValueError, RuntimeError):  # pydantic's errors are of these
        schema = None
    return {} if not schema else {"chunkSchema": as_draft07(schema)}


def _index(info: ActionInfo, action: Action[Any, Any, Any] | None, plugin: Plugin | None) -> dict[str, Any]:
    """The vector store behind an indexer or retriever: it takes files, and its chunks can be browsed."""
    behind = None if action is None else served_by(action)
    if behind is not None:
        embedder, mode = behind.embedder, behind.mode
    elif isinstance(plugin, StorePlugin):
        embedder, mode = plugin.embedder, plugin.mode
    else:
        return {}
    told = {"name": info.name, "mode": mode}
    return {"index": told if embedder is None else {**told, "embedder": embedder}}
