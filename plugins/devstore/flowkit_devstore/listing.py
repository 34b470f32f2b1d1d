"""What indexes there are in a folder, and how big they are.

for info in list_indexes(Path(".flowkit/indexes")):
    print(info.name, info.count, info.size_bytes)
"""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from flowkit.errors import FlowkitError, StoreError
from flowkit_devstore.database import State, connect, explained, read_state, upgrade
from flowkit_devstore.folders import DATABASE, database_lost, default_folder, has_vectors, index_name

__all__ = ["IndexInfo", "list_indexes"]


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """One index. When it cannot be read, `error` says why, and count, dimension and embedder are unknown."""

    name: str
    path: Path
    size_bytes: int
    count: int | None = None
    dimension: int | None = None
    embedder: str | None = None
    error: str | None = None
    hint: str | None = None


def list_indexes(folder: Path | None = None) -> list[IndexInfo]:
    """The indexes in `folder` (default: those of the project), by name. Damaged ones are listed with their error.

    Raises:
        ConfigError: the folder itself may not be read.
    """
    folder = default_folder() if folder is None else folder
    with explained(folder):
        try:
            paths = list(folder.iterdir())
        except FileNotFoundError:
            return []
    return sorted((info for path in paths if (info := _look(path)) is not None), key=lambda info: info.name)


def _look(path: Path) -> IndexInfo | None:
    name = index_name(path.name) or path.name
    size_bytes = 0
    try:
        with explained(path):
            if not path.is_dir():
                return None
            size_bytes = sum(file.stat().st_size for file in path.iterdir() if file.is_file())
            state = _state(path)
            if state is None:
                return None
            if state.slots:
                state = _checked(state, path)
    except FlowkitError as error:
        return IndexInfo(name, path, size_bytes, error=error.message, hint=error.hint)
    return IndexInfo(state.name, path, size_bytes, state.rows, state.dimension, state.embedder)


def _state(path: Path) -> State | None:
    database = path / DATABASE
    was_index = has_vectors(path)
    if database.is_file() and database.stat().st_size:
        with closing(connect(path)) as connection:
            if upgrade(connection, path):
                return read_state(connection)
    if was_index:
        raise database_lost(path)
    return None


def _checked(state: State, path: Path) -> State:
    """The state, or a newer one, when its vectors are there."""
    from flowkit_devstore.vectors import Views  # needs numpy, which an empty index can do without

    try:
        Views(path).check(state.generation, state.dimension or 0, state.slots)
    except StoreError:
        newer = _state(path)
        if newer is None or newer.generation == state.generation:
            raise
        return newer  # compacted by another process between the look at the database and the one at the file
    return state
