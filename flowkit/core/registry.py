"""The registry: actions by key, those of plugins made when they are first needed.

    action = await registry.get("/flow/menuQA")
    action = await registry.find("retriever", "menu")     # a bare index name, when it is unique
"""

import asyncio
import difflib
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from flowkit.core.action import Action
from flowkit.core.kinds import Kind, action_key, split_key
from flowkit.core.plugin import ActionInfo, Plugin
from flowkit.core.runtime import Runtime
from flowkit.errors import ConfigError, FlowkitError, InvalidInputError, NotFoundError

__all__ = ["Registry"]

AnyAction = Action[Any, Any, Any]

# Plugins that are not installed are named in hints, so that a missing one is a line to type and not a search.
KNOWN_PLUGINS: Mapping[str, str] = {
    "local": "flowkit-local",
    "devstore": "flowkit-devstore",
    "googleai": "flowkit-google",
    "vertexai": "flowkit-google",
    "chroma": "flowkit-chroma",
    "pgvector": "flowkit-pgvector",
    "pinecone": "flowkit-pinecone",
}


class Registry:
    """Actions of one `Flowkit`. Safe to use from several threads and loops."""

    def __init__(self, plugins: Sequence[Plugin] = (), *, runtime: Runtime | None = None) -> None:
        self.runtime = runtime or Runtime()
        self._actions: dict[str, AnyAction] = {}
        self._plugins = list(plugins)
        self._ready: dict[int, Future[None]] = {}
        self._lock = threading.Lock()

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        return tuple(self._plugins)

    def add_plugin(self, plugin: Plugin) -> None:
        with self._lock:
            self._plugins.append(plugin)

    def register(self, action: AnyAction) -> None:
        """Add an action. The same function may be registered again (a notebook cell that runs twice).

        Raises:
            InvalidInputError: the key is taken by another function (status ALREADY_EXISTS).
        """
        with self._lock:
            other = self._actions.get(action.key)
            if other is not None and _origin(other) != _origin(action):
                raise InvalidInputError(
                    f"there are two {action.kind}s named {action.name!r}: in {_origin(other)} and {_origin(action)}",
                    hint="rename one of them",
                    status="ALREADY_EXISTS",
                )
            action.runtime = self.runtime
            self._actions[action.key] = action

    async def get(self, key: str) -> AnyAction:
        """The action of a full key.

        Raises:
            NotFoundError: there is none; the hint says which name is near, or which plugin is missing.
        """
        action = self._actions.get(key)
        if action is not None:
            return action
        kind, name = split_key(key)
        for plugin in self._plugins:
            if name == plugin.name or name.startswith(plugin.name + "/"):
                action = await self._resolve(plugin, kind, name)
                if action is not None:
                    return action
        raise self._unknown(kind, name)

    async def find(self, kind: Kind, name: str) -> AnyAction:
        """The action of a kind by name, or by the last part of its name when that is unique (`menu`).

        Raises:
            NotFoundError: there is none.
            InvalidInputError: several have that last part.
        """
        action = self._actions.get(action_key(kind, name))
        if action is not None:
            return action
        matches = [key for key in self.keys(kind) if key.endswith("/" + name)]
        full = action_key(kind, name)
        if full in matches:
            return await self.get(full)
        if len(matches) > 1:
            raise InvalidInputError(
                f"{name!r} could be {' or '.join(split_key(key)[1] for key in matches)}", hint="give the full name"
            )
        return await self.get(matches[0] if matches else full)

    def registered(self, kind: Kind | None = None) -> list[AnyAction]:
        """The actions that exist now, by key."""
        with self._lock:
            actions = list(self._actions.values())
        return sorted((a for a in actions if kind in (None, a.kind)), key=lambda a: a.key)

    def list(self) -> "list[ActionInfo]":
        """Everything that could be run: what exists, and what plugins would make. By key, without heavy work."""
        infos = {info.key: info for plugin in self._plugins for info in plugin.list()}
        for action in self.registered():
            infos[action.key] = ActionInfo(action.kind, action.name, action.description, action.metadata)
        return [infos[key] for key in sorted(infos)]

    def keys(self, kind: Kind | None = None) -> "list[str]":
        """All keys, of one kind or of all, sorted."""
        return [info.key for info in self.list() if kind in (None, info.kind)]

    async def aclose(self) -> None:
        """Close every plugin that was set up; all are closed even if one of them fails."""
        with self._lock:
            plugins = [plugin for plugin in self._plugins if id(plugin) in self._ready]
            self._ready.clear()
        errors: list[Exception] = []
        for plugin in plugins:
            try:
                await plugin.aclose()
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]

    async def _resolve(self, plugin: Plugin, kind: Kind, name: str) -> AnyAction | None:
        await self._set_up(plugin)
        action = await plugin.resolve(kind, name)
        if action is None:
            return None
        action.runtime = self.runtime
        with self._lock:
            # Another task may have been quicker: everybody must get the same object.
            return self._actions.setdefault(action.key, action)

    async def _set_up(self, plugin: Plugin) -> None:
        """Run `setup` once, whatever number of tasks, loops and threads ask."""
        with self._lock:
            ready = self._ready.get(id(plugin))
            first = ready is None
            if ready is None:
                ready = self._ready[id(plugin)] = Future()
        if not first:
            if not ready.done():
                await asyncio.wrap_future(ready)
            ready.result()
            return
        try:
            await plugin.setup(self)
        except BaseException as error:
            with self._lock:
                self._ready.pop(id(plugin), None)
            # Those who waited get an error of their own; the next call tries again.
            ready.set_exception(error if isinstance(error, FlowkitError) else ConfigError(f"{plugin.name}: {error}"))
            raise
        ready.set_result(None)

    def _unknown(self, kind: Kind, name: str) -> NotFoundError:
        known = [split_key(key)[1] for key in self.keys(kind)]
        provider = name.partition("/")[0]
        package = KNOWN_PLUGINS.get(provider)
        near = difflib.get_close_matches(name, known, n=1) or [k for k in known if k.rpartition("/")[2] == name]
        if near:
            hint = f"did you mean {near[0]!r}?"
        elif package and "/" in name and provider not in {plugin.name for plugin in self._plugins}:
            hint = f"{provider}/… is served by {package}: install it and add it to Flowkit(plugins=[…])"
        elif known:
            hint = f"there are: {', '.join(known[:10])}"
        else:
            hint = f"no {kind} is registered"
        return NotFoundError(f"no {kind} {name!r}", hint=hint)


def _origin(action: AnyAction) -> str:
    fn = action.fn
    return f"{getattr(fn, '__module__', '?')}.{getattr(fn, '__qualname__', repr(fn))}"
