"""The registry: actions by key, those of plugins made when they are first needed.

action = await registry.get("/flow/menuQA")
action = await registry.find("retriever", "menu")     # a bare index name, when it is unique
"""

import difflib
import threading
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import Any, Protocol

from flowkit.core.action import Action
from flowkit.core.functions import origin
from flowkit.core.kinds import Kind, action_key, split_key
from flowkit.core.once import Once
from flowkit.core.plugin import ActionInfo, Plugin
from flowkit.core.runtime import Runtime
from flowkit.errors import ConfigError, InvalidInputError, NotFoundError

__all__ = ["Registry"]

AnyAction = Action[Any, Any, Any]
# The registry has a method called list.
Actions = list[AnyAction]
Infos = list[ActionInfo]
Keys = list[str]

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


class _Closable(Protocol):
    async def aclose(self) -> None: ...


class Registry:
    """Actions of one `Flowkit`. Safe to use from several threads and loops."""

    def __init__(self, plugins: Sequence[Plugin] = (), *, runtime: Runtime | None = None) -> None:
        if not isinstance(plugins, Iterable):
            raise ConfigError(f"plugins is a {type(plugins).__name__}, not a list", hint="write plugins=[…]")
        for plugin in plugins:
            _check(plugin)
        self.runtime = runtime or Runtime()
        self._actions: dict[str, AnyAction] = {}
        self._plugins = list(plugins)
        self._once = Once()
        self._open: list[Plugin] = []
        """Plugins that were set up, in that order."""
        self._made: set[str] = set()
        """Keys of the actions that plugins made."""
        self._short: dict[tuple[Kind, str], AnyAction] = {}
        """Actions found by the last part of their name; a plugin's list costs more than a call."""
        self._lock = threading.Lock()

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        return tuple(self._plugins)

    def add_plugin(self, plugin: Plugin) -> None:
        _check(plugin)
        with self._lock:
            self._plugins.append(plugin)
            self._short.clear()

    def register(self, action: AnyAction) -> None:
        """Add an action. The same function may be registered again (a notebook cell that runs twice).

        Raises:
            InvalidInputError: the key is taken by another function (status ALREADY_EXISTS).
        """
        with self._lock:
            other = self._actions.get(action.key)
            if other is not None and origin(other) != origin(action):
                raise InvalidInputError(
                    f"there are two {action.kind}s named {action.name!r}: in {origin(other)} and {origin(action)}",
                    hint="rename one of them",
                    status="ALREADY_EXISTS",
                )
            action.runtime = self.runtime
            self._actions[action.key] = action
            self._made.discard(action.key)
            self._short.clear()

    async def get(self, key: str) -> AnyAction:
        """The action of a full key.

        Raises:
            NotFoundError: there is none; the hint says which name is near, or which plugin is missing.
        """
        action = self._actions.get(key)
        if action is not None:
            return action
        kind, name = split_key(key)
        for plugin in self._candidates(key, name):
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
        action = self._actions.get(action_key(kind, name)) or self._short.get((kind, name))
        if action is not None:
            return action
        full = action_key(kind, name)
        matches = [key for key in self.keys(kind) if key.endswith("/" + name)]
        if full in matches or not matches:
            return await self.get(full)
        if len(matches) > 1:
            raise InvalidInputError(
                f"{name!r} could be {' or '.join(split_key(key)[1] for key in matches)}", hint="give the full name"
            )
        action = await self.get(matches[0])
        with self._lock:
            self._short[kind, name] = action
        return action

    def registered(self, kind: Kind | None = None) -> Actions:
        """The actions that exist now, by key."""
        with self._lock:
            actions = list(self._actions.values())
        return sorted((a for a in actions if kind in (None, a.kind)), key=lambda a: a.key)

    def list(self) -> Infos:
        """Everything that could be run: what exists, and what plugins would make. By key, without heavy work."""
        infos = {info.key: info for plugin in self._plugins for info in plugin.list()}
        for action in self.registered():
            infos[action.key] = ActionInfo(action.kind, action.name, action.description, action.metadata)
        return [infos[key] for key in sorted(infos)]

    def keys(self, kind: Kind | None = None) -> Keys:
        """All keys, of one kind or of all, sorted."""
        return [info.key for info in self.list() if kind in (None, info.kind)]

    async def aclose(self, more: Iterable[_Closable] = ()) -> None:
        """Close every plugin that was set up, the last first, and `more`; all, even if one fails or this is cancelled.

        Afterwards the registry can be used again: plugins are set up anew when they are needed.

        Raises:
            Exception: what the first failing plugin raised, with a note for each further one.
        """
        with self._lock:
            plugins, self._open = self._open[::-1], []
            for key in self._made:
                self._actions.pop(key, None)
            self._made.clear()
            self._short.clear()
        failed: BaseException | None = None
        for plugin in plugins:
            self._once.forget(id(plugin))
        for each in (*plugins, *more):
            try:
                await each.aclose()
            except BaseException as error:  # noqa: BLE001  raised below
                if failed is None:
                    failed = error
                else:
                    name = type(each).__name__
                    failed.add_note(f"closing {name} failed too: {type(error).__name__}: {error}")
        if failed is not None:
            raise failed

    def _candidates(self, key: str, name: str) -> Sequence[Plugin]:
        """Plugins of that name; those that list the key come first, so that no other one need be set up for it."""
        found = [plugin for plugin in self._plugins if name == plugin.name or name.startswith(plugin.name + "/")]
        if len(found) > 1:
            found.sort(key=lambda plugin: all(info.key != key for info in plugin.list()))
        return found

    async def _resolve(self, plugin: Plugin, kind: Kind, name: str) -> AnyAction | None:
        await self._once.run(id(plugin), lambda: self._set_up(plugin), keep=True)
        key = action_key(kind, name)

        async def make() -> AnyAction | None:
            if key in self._actions:
                return self._actions[key]
            action = await plugin.resolve(kind, name)
            if action is not None:
                action.runtime = self.runtime
                with self._lock:
                    self._actions[key] = action
                    self._made.add(key)
            return action

        return await self._once.run((id(plugin), key), make, keep=False)

    async def _set_up(self, plugin: Plugin) -> None:
        await plugin.setup(self)
        with self._lock:
            self._open.append(plugin)

    def _unknown(self, kind: Kind, name: str) -> NotFoundError:
        return NotFoundError(f"no {kind} {name!r}", hint=self._hint(kind, name))

    def _hint(self, kind: Kind, name: str) -> str:
        known = [split_key(key)[1] for key in self.keys(kind)]
        provider, slash, _ = name.partition("/")
        package = KNOWN_PLUGINS.get(provider) if slash else None
        if package and provider not in {plugin.name for plugin in self._plugins}:
            missing = "" if _installed(package) else ", which is not installed"
            return f"{provider}/… is served by {package}{missing}; add its plugin to Flowkit(plugins=[…])"
        near = difflib.get_close_matches(name, known, n=1)
        if near:
            return f"did you mean {near[0]!r}?"
        others = [split_key(key)[0] for key in self.keys() if split_key(key)[1] == name]
        if others:
            return f"there is a {others[0]} of that name"
        return f"there are: {', '.join(known[:10])}" if known else f"no {kind} is registered"


def _check(plugin: object) -> None:
    if isinstance(plugin, type):
        raise ConfigError(f"plugins holds the class {plugin.__name__}", hint=f"write {plugin.__name__}(…)")
    missing = [name for name in ("name", "setup", "resolve", "list", "aclose") if not hasattr(plugin, name)]
    if missing:
        raise ConfigError(f"{type(plugin).__name__} is no plugin: it lacks {', '.join(missing)}")


def _installed(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True
