"""The plugins of an app as tools of ours see them: what they are, which names they read, whether they work.

plugins = Plugins(ai)
told = await plugins.check({"id": "pgvector/menu"})
"""

import asyncio
import time
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from flowkit.config import names_set
from flowkit.core.loops import run_on
from flowkit.core.plugin import CheckedPlugin
from flowkit.errors import BackendError, FlowkitError, InvalidInputError, NotFoundError
from flowkit.server.plugin_shapes import PluginCheck, PluginData, PluginList, PluginVariable, plugin_id

if TYPE_CHECKING:
    from flowkit.app import Flowkit

__all__ = ["Plugins"]

_SECONDS = 15.0


class Plugins:
    """Asked by the serving thread; checks run on the app's loop, where connections are."""

    def __init__(self, ai: "Flowkit") -> None:
        self._ai = ai

    async def list(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A PluginList."""
        packages = {
            entry.module.partition(".")[0]: entry.dist
            for entry in metadata.entry_points(group="flowkit.plugins")
            if entry.dist is not None
        }
        found = []
        for plugin in self._ai.registry.plugins:
            dist = packages.get(type(plugin).__module__.partition(".")[0])
            names = names_set(str(name) for name in getattr(plugin, "environment", ()))
            found.append(
                PluginData(
                    id=plugin_id(plugin),
                    package=None if dist is None else dist.name,
                    version=None if dist is None else dist.version,
                    environment=tuple(PluginVariable(name=name, set=is_set) for name, is_set in names.items()),
                    checks=isinstance(plugin, CheckedPlugin),
                )
            )
        return PluginList(plugins=tuple(found)).to_wire()

    async def check(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A PluginCheck of the plugin with `body["id"]`.

        Raises:
            NotFoundError: the app has no such plugin.
            InvalidInputError: it cannot be checked.
        """
        plugin = next((each for each in self._ai.registry.plugins if plugin_id(each) == body.get("id")), None)
        if plugin is None:
            raise NotFoundError(f"the app has no plugin {body.get('id')!r}", hint="GET /api/plugins lists them")
        if not isinstance(plugin, CheckedPlugin):
            raise InvalidInputError(f"the plugin {plugin_id(plugin)!r} has no check", hint="run one of its actions")
        began = time.monotonic()
        hint = None
        try:
            message = await asyncio.wrap_future(run_on(self._ai.runtime.loop(), lambda: _checked(plugin)))
            ok = True
        except Exception as error:  # noqa: BLE001  whatever a plugin raises says that it does not work
            ok = False
            message = error.message if isinstance(error, FlowkitError) else f"{type(error).__name__}: {error}"
            hint = error.hint if isinstance(error, FlowkitError) else None
        took = (time.monotonic() - began) * 1000
        return PluginCheck(ok=ok, message=message, hint=hint, duration_ms=took).to_wire()


async def _checked(plugin: CheckedPlugin) -> str:
    try:
        async with asyncio.timeout(_SECONDS) as limit:
            return str(await plugin.check())
    except TimeoutError as error:
        if not limit.expired():  # it is the plugin's own
            raise
        raise BackendError(f"no answer within {_SECONDS:.0f} seconds", hint="look whether its server runs") from error
