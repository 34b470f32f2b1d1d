"""The index that a rag command works on: the user's app's, or one on this machine that needs no app.

target = Target.of(app, "docs", place=Path("docs"))
target.ai, target.index
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flowkit.app import Flowkit
from flowkit.cli.apps import load
from flowkit.cli.failures import describe, place
from flowkit.cli.lines import CliError, ReaderLeft, say
from flowkit.cli.running import Outcome
from flowkit.config import Settings
from flowkit.errors import FlowkitError
from flowkit.rag.easy import EASY_MODEL, easy_plugins, index_name
from flowkit.rag.ingest import index_of
from flowkit.rag.load import Files, Loader, auto
from flowkit.server.reflection.role import stand_down

__all__ = ["Target", "finish", "loader_of"]


@dataclass(frozen=True, slots=True)
class Target:
    """An app and the name of one of its indexes."""

    ai: Flowkit
    index: str

    @classmethod
    def of(cls, app: str | None, index: str | None, *, place: Path | str | None) -> "Target":
        """The app's index, or without an app a hybrid one in the project's dev store.

        Args:
            place: what is going to be indexed, after which a new index is named.

        Raises:
            CliError: no index is named, and there is none or more than one.
        """
        if app is not None:
            ai = load(app)
            name = index or _only(sorted(ai.stores), "the app")
            return cls(ai, name)
        stand_down()
        settings = Settings.from_env()
        if index is None:
            index = index_name(place, settings.root) if place is not None else _only(_indexes(settings), "the project")
        # It serves nobody, whatever the environment says.
        alone = replace(settings, dev=False)
        ai = Flowkit(plugins=easy_plugins(index, settings.data_folder), model=EASY_MODEL, settings=alone)
        return cls(ai, f"devstore/{index}")

    async def embedder(self) -> str:
        """The name of the index's embedder.

        Raises:
            NotFoundError: the app has no such index.
            ConfigError: the index has no embedder.
        """
        actions = await index_of(self.ai.registry, self.index)
        return (await actions.cached_embedder(self.ai.registry)).name


def loader_of(target: Target, place: Path | str, *, glob: Sequence[str] = (), allow_private: bool = False) -> Loader:
    """The loader of a path or an address; sources are relative to the app's root."""
    try:
        loader = auto(place, glob=tuple(glob) or None, allow_private=allow_private)
    except FlowkitError:
        raise
    except Exception as error:  # a package's import runs any code
        raise _failure(error) from error
    return loader.under(target.ai.settings.root) if isinstance(loader, Files) else loader


def finish(outcome: Outcome, *, interrupted: str) -> int:
    """The exit code of a run; says so when it was stopped.

    Raises:
        CliError, FlowkitError, ReaderLeft: as the run did.
    """
    if outcome.stopped_by is not None:
        say(interrupted, "dim")
        return outcome.exit_code
    error = outcome.error
    if error is None:
        return 0
    if isinstance(error, CliError | FlowkitError | ReaderLeft):
        raise error
    raise _failure(error)


def _failure(error: BaseException) -> CliError:
    """An error that is none of flowkit's, in a line."""
    where = place(error)
    message = describe(error)
    return CliError(f"{message} ({where})" if where else message, exit_code=1)


def _only(names: list[str], owner: str) -> str:
    if not names:
        raise CliError(f"{owner} has no index", hint="flowkit rag:index FOLDER makes one")
    if len(names) > 1:
        raise CliError(f"{owner} has several indexes", hint=f"--index with one of {', '.join(names[:10])}")
    return names[0]


def _indexes(settings: Settings) -> list[str]:
    try:
        from flowkit_devstore import list_indexes
    except ImportError:
        raise CliError("the dev store is not installed", hint="pip install 'flowkit-ai[easy]'", exit_code=1) from None
    return [index.name for index in list_indexes(settings.data_folder / "indexes")]
