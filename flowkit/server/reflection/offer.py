"""The door between an app and what serves it: light, since every app in dev goes through it, served or not.

offer(ai)                 # in the constructor
await withdraw(ai)        # when it is closed
"""

import threading
from typing import TYPE_CHECKING

from flowkit.server.reflection.role import has_role, take_role

if TYPE_CHECKING:
    from flowkit.app import Flowkit

__all__ = ["hold", "let_go", "offer", "withdraw"]

_lock = threading.Lock()
_held: "list[Flowkit] | None" = None


def hold() -> None:
    """Serve nobody until `let_go`: whoever imports an app wants tools to see all of it, and nothing if that fails."""
    global _held
    _held = []


def let_go() -> None:
    """Serve the apps that were made meanwhile; nothing happens when none are held."""
    global _held
    with _lock:
        held, _held = _held, None
    for ai in held or ():
        _serve(ai)


def offer(ai: "Flowkit") -> None:
    """Serve an app to developer tools from now on, if that is this process's role."""
    if not take_role(ai.settings.root):
        return
    with _lock:
        if _held is not None:
            _held.append(ai)
            return
    _serve(ai)


def _serve(ai: "Flowkit") -> None:
    from flowkit.server.reflection.host import serve

    serve(ai)


async def withdraw(ai: "Flowkit") -> None:
    """Serve an app no longer; nothing happens when it is not served."""
    with _lock:
        if _held is not None and ai in _held:
            _held.remove(ai)
            return
    if has_role():
        from flowkit.server.reflection.host import release

        await release(ai)
