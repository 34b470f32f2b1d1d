"""The plugin contract: what a package offers, found lazily by kind and name.

class Menu:
    name = "menu"
    async def resolve(self, kind: Kind, name: str) -> Action | None: ...
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from flowkit.core.action import Action
from flowkit.core.kinds import Kind, action_key

if TYPE_CHECKING:
    from flowkit.core.registry import Registry

__all__ = ["ActionInfo", "CheckedPlugin", "Plugin"]


@dataclass(frozen=True, slots=True)
class ActionInfo:
    """What a list shows of an action that may not exist yet."""

    kind: Kind
    name: str
    description: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return action_key(self.kind, self.name)


@runtime_checkable
class Plugin(Protocol):
    """A provider of actions. The constructor only stores; `setup` runs once, before the first `resolve`."""

    @property
    def name(self) -> str:
        """The first segment of its actions' names, for instance `local`."""
        ...

    async def setup(self, registry: "Registry") -> None: ...

    async def resolve(self, kind: Kind, name: str) -> Action[Any, Any, Any] | None:
        """The action of that kind and full name (`local/all-minilm-l6-v2`), or None. Asked once for each key."""
        ...

    def list(self) -> Sequence[ActionInfo]:
        """What it could resolve. No heavy work, no network."""
        ...

    async def aclose(self) -> None: ...


@runtime_checkable
class CheckedPlugin(Protocol):
    """A plugin that can say whether it works, for a button "test connection".

    It may also have `environment`, the names of the environment variables that it reads; their values stay with it.
    """

    @property
    def name(self) -> str: ...

    async def check(self) -> str:
        """Ask what is behind the plugin, cheaply, and change nothing; returns what was found, in one line.

        Raises:
            FlowkitError: it does not work; `hint` says what to do.
        """
        ...
