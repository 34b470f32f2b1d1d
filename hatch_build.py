"""A wheel is not made without the developer UI. It is built into flowkit/server/static by `make ui`, and is committed.

[tool.hatch.build.targets.wheel.hooks.custom]
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CheckDevUi(BuildHookInterface[Any]):
    """Looks whether the page is there. An editable install may do without: it then says how the page is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        page = Path(self.root, "flowkit", "server", "static", "index.html")
        if version != "editable" and not page.is_file():
            raise SystemExit(
                f"no wheel: the developer UI is missing ({page}). Run `make ui` first; it needs Node 20.19."
            )
