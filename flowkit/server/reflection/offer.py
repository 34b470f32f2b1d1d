"""The door between an app and what serves it: light, since every app in dev goes through it, served or not.

offer(ai)                 # in the constructor
await withdraw(ai)        # when it is closed
"""

from typing import TYPE_CHECKING

from flowkit.server.reflection.role import has_role, take_role

if TYPE_CHECKING:
    from flowkit.app import Flowkit

__all__ = ["offer", "withdraw"]


def offer(ai: "Flowkit") -> None:
    """Serve an app to developer tools from now on, if that is this process's role."""
    if take_role(ai.settings.root):
        from flowkit.server.reflection.host import serve

        serve(ai)


async def withdraw(ai: "Flowkit") -> None:
    """Serve an app no longer; nothing happens when it is not served."""
    if has_role():
        from flowkit.server.reflection.host import release

        await release(ai)
