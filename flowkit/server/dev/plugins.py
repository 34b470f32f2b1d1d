"""The plugins of the running app: which there are, and whether what is behind them answers.

operations = plugin_operations(apps)
"""

from collections.abc import Sequence

from flowkit.server.dev.apps import Apps
from flowkit.server.operations import Call, Operation
from flowkit.server.plugin_shapes import AskPlugin, PluginCheck, PluginList

__all__ = ["plugin_operations"]

_SECONDS = 30.0


def plugin_operations(apps: Apps) -> Sequence[Operation]:
    """The operations. The app itself answers: it has the plugins' settings, and its own environment."""

    async def plugins(call: Call) -> PluginList:
        told = await apps.call(await apps.pick(None), "/api/plugins", {}, timeout_seconds=_SECONDS)
        return PluginList.from_wire(told)

    async def check(call: Call) -> PluginCheck:
        asked: AskPlugin = call.body
        told = await apps.call(await apps.pick(None), "/api/checkPlugin", asked.to_wire(), timeout_seconds=_SECONDS)
        return PluginCheck.from_wire(told)

    return [
        Operation("listPlugins", "GET", "/api/plugins", "The plugins of the app", plugins, answer=PluginList),
        Operation(
            "checkPlugin",
            "POST",
            "/api/plugins/check",
            "Whether what is behind a plugin answers",
            check,
            body=AskPlugin,
            answer=PluginCheck,
        ),
    ]
