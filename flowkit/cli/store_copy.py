"""`store:copy` at work: the two stores, a progress bar, the report.

exit_code = copy(source, target, app=None, source_options=(), target_options=("dsn=…",), overwrite=False, …)
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import asdict, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

from flowkit.app import Flowkit
from flowkit.cli.apps import load
from flowkit.cli.bars import progress
from flowkit.cli.lines import CliError, one_line
from flowkit.cli.rag_apps import finish
from flowkit.cli.running import run_work
from flowkit.cli.tables import print_json, print_lines, styled
from flowkit.cli.units import number
from flowkit.config import Settings
from flowkit.plugin import StorePlugin, VectorStore
from flowkit.rag.stores.transfer import CopyReport, copy_index
from flowkit.server.reflection.role import stand_down

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

__all__ = ["copy"]


def copy(
    source: str,
    target: str,
    *,
    app: str | None,
    source_options: Sequence[str],
    target_options: Sequence[str],
    overwrite: bool,
    add: bool,
    as_json: bool,
) -> int:
    """Do it; returns the exit code."""
    if overwrite and add:
        raise CliError("--overwrite and --add exclude each other")
    if source == target and sorted(source_options) == sorted(target_options):
        raise CliError(f"{source} cannot be copied into itself", hint="name another index or store")
    if app is not None:
        ai = load(app)
    else:
        stand_down()
        ai = Flowkit(settings=replace(Settings.from_env(), dev=False))  # it serves nobody
    first = _store(source, ai, _options(source_options), "--from")
    second = _store(target, ai, _options(target_options), "--to")

    async def work() -> CopyReport:
        async with aclosing(first), aclosing(second):
            with _bar(source) as tell:
                return await copy_index(first, second, overwrite=overwrite, add=add, on_progress=tell)

    outcome = run_work(ai, work)
    exit_code = finish(outcome, interrupted="stopped; what is copied stays, and the next run does the rest")
    if outcome.result is not None:
        _show(outcome.result, target, as_json=as_json)
    return exit_code


def _store(name: str, ai: Flowkit, options: Mapping[str, str], flag: str) -> VectorStore:
    """The app's store of that name; with options, or where the app has none, one of an installed plugin."""
    if not options and name in ai.stores:
        return ai.stores[name]
    provider, slash, index = name.partition("/")
    if not slash or not index:
        raise CliError(f"{name!r} is no store and index", hint="write it as devstore/menu")
    made = _class(provider)
    known = {
        key: parameter
        for key, parameter in inspect.signature(made).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    if wrong := sorted(set(options) - set(known)):
        raise CliError(f"{provider} has no option {wrong[0]!r}", hint=f"{flag} takes: {', '.join(known)}")
    values = {key: _value(key, text, known[key], flag) for key, text in options.items()}
    return made(index, **values)


def _class(provider: str) -> Callable[..., VectorStore]:
    """The store class of an installed plugin; it takes the index, and options by name."""
    for entry in metadata.entry_points(group="flowkit.plugins", name=provider):
        try:
            module = entry.load()
        except ImportError as error:
            hint = f"pip install --force-reinstall flowkit-{provider}"
            raise CliError(f"the store {provider!r} cannot be imported: {error}", hint=hint, exit_code=1) from None
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            if isinstance(found, type) and issubclass(found, StorePlugin) and issubclass(found, VectorStore):
                return found
    raise CliError(
        f"no store {provider!r} is installed", hint=f"pip install flowkit-{provider}, or name an --app that has it"
    )


def _options(given: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for key, equals, _ in pairs:
        if not equals or not key:
            raise CliError(f"{key!r} is no option of a store", hint="write it as host=localhost")
    return {key: value for key, _, value in pairs}


def _value(key: str, text: str, parameter: inspect.Parameter, flag: str) -> Any:
    """The text as what the parameter's default is; text, where that is nothing or text."""
    default = parameter.default
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise CliError(f"{flag} {key}={text}: it is true or false")
        return text.lower() == "true"
    if isinstance(default, int | float):
        try:
            return type(default)(text)
        except ValueError:
            raise CliError(f"{flag} {key}={text}: it is a number") from None
    return text


@contextmanager
def _bar(name: str) -> Iterator[Any]:
    """A progress bar, where somebody sees it; gives the function that moves it."""
    with progress(_columns) as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _columns() -> "Sequence[ProgressColumn]":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    name = TextColumn("Copying {task.description}")
    return name, BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn(compact=True)


def _show(report: CopyReport, target: str, *, as_json: bool) -> None:
    if as_json:
        print_json({key: value for key, value in asdict(report).items() if value is not None})
        return
    counts = [
        f"{number(report.copied)} copied" if report.copied or not report.unchanged else "",
        f"{number(report.unchanged)} were there" if report.unchanged else "",
        f"{number(report.deleted)} deleted" if report.deleted else "",
    ]
    from rich.text import Text

    told = f"{one_line(target)}: {', '.join(each for each in counts if each)}; it holds {number(report.count)}"
    print_lines([Text.assemble(styled("✓ ", "good"), told)])
