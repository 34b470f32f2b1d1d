"""Which process of a tree serves the app: the first that makes a `Flowkit` in dev; those that it starts stand down.

if take_role(settings.root): ...
stand_down()                          # a command that runs a flow itself, and serves nobody
"""

import multiprocessing.process
import os
from pathlib import Path

from flowkit.config import claim_serving, is_under_test, serving_process
from flowkit.server.processes import is_alive

__all__ = ["has_role", "is_worker", "leave_role", "stand_down", "take_role"]

_NAME = "served-by-child-of-"


class _Role:
    stands_down = False
    pid: int | None = None
    """The process that has it; a forked child sees its parent's."""
    place: Path | None = None
    """The file by which sibling workers agree."""


_role = _Role()


def stand_down() -> None:
    """This process serves no developer tools, and neither do those that it starts."""
    _role.stands_down = True
    if not _served_by_other() and not is_under_test():
        claim_serving()


def take_role(root: Path) -> bool:
    """True when this process is to serve; its children are told so by their environment."""
    if _role.stands_down or is_under_test() or _served_by_other():
        return False
    if is_worker() and not has_role() and not _first_of_workers(root / ".flowkit"):
        return False
    claim_serving()
    _role.pid = os.getpid()
    return True


def has_role() -> bool:
    """True when this process serves, or has served."""
    return _role.pid == os.getpid()


def leave_role() -> None:
    """Let the next worker have it."""
    place, _role.place = _role.place, None
    if place is not None and _holder(place) == os.getpid():
        place.unlink(missing_ok=True)


def is_worker() -> bool:
    """True in a process that multiprocessing has started: a server's worker or reloaded child, a pool's process."""
    return _parent() is not None


def _parent() -> int | None:
    parent = multiprocessing.process.parent_process()
    return None if parent is None else parent.pid


def _served_by_other() -> bool:
    pid = serving_process()
    return pid is not None and pid != os.getpid() and is_alive(pid)


def _first_of_workers(folder: Path) -> bool:
    """Of several workers under one parent that serves nobody itself, one is to serve."""
    parent = _parent()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(folder)
    place = folder / f"{_NAME}{parent}"
    mine = folder / f".serve-{os.getpid()}"
    mine.write_text(str(os.getpid()), encoding="ascii")
    try:
        for _ in range(3):
            try:
                os.link(mine, place)  # made with its content, by one of them only
            except FileExistsError:
                holder = _holder(place)
                if holder is not None and holder != os.getpid() and is_alive(holder):
                    return False
                place.unlink(missing_ok=True)
            else:
                _role.place = place
                return True
        return False
    finally:
        mine.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what killed parents left behind."""
    for place in folder.glob(f"{_NAME}*"):
        parent = place.name.removeprefix(_NAME)
        if parent.isdecimal() and not is_alive(int(parent)):
            place.unlink(missing_ok=True)


def _holder(place: Path) -> int | None:
    try:
        text = place.read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    return int(text) if text.isdecimal() else None
