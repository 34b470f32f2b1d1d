"""The shapes of what tools of ours are told of the app's plugins.

PluginCheck(ok=True, message="12 documents", duration_ms=3.2)
"""

from flowkit.core.plugin import Plugin
from flowkit.schema.wire import Wire

__all__ = ["AskPlugin", "PluginCheck", "PluginData", "PluginList", "PluginVariable", "plugin_id"]


class PluginVariable(Wire):
    """A name of the environment that a plugin reads. `set`: it has a value, which nobody is told."""

    name: str
    set: bool


class PluginData(Wire):
    """A plugin that the app uses."""

    id: str
    """As `plugin_id` makes it: `local`, `pgvector/menu`."""
    package: str | None = None
    """The package that it comes from; absent when it is part of the project."""
    version: str | None = None
    environment: tuple[PluginVariable, ...] = ()
    checks: bool
    """It can say whether it works: `POST /api/plugins/check`."""


class PluginList(Wire):
    plugins: tuple[PluginData, ...]


class AskPlugin(Wire):
    id: str


class PluginCheck(Wire):
    """Whether what is behind the plugin answers."""

    ok: bool
    message: str
    hint: str | None = None
    duration_ms: float


def plugin_id(plugin: Plugin) -> str:
    """`local`; of a store with its index: `devstore/menu`."""
    index = getattr(plugin, "index", None)
    return f"{plugin.name}/{index}" if isinstance(index, str) else plugin.name
