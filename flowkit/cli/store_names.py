"""Stores by name: `devstore/menu`, with options as they stand on the command line.

store = store_of("pgvector/menu", ai, options_of(["dsn=postgresql://localhost/app"]), "--to")
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from typing import Any

from flowkit.app import Flowkit
from flowkit.cli.apps import load
from flowkit.cli.lines import CliError
from flowkit.config import Settings
from flowkit.errors import ConfigError, InvalidInputError
from flowkit.plugin import StorePlugin, VectorStore
from flowkit.server.reflection.role import stand_down

__all__ = ["app_of", "options_of", "store_of"]


def app_of(name: str | None) -> Flowkit:
    """The app of that name; without one, one that has nothing of its own and serves nobody."""
    if name is not None:
        app: Flowkit = load(name)
        return app
    stand_down()
    return Flowkit(settings=replace(Settings.from_env(), dev=False))


def store_of(name: str, ai: Flowkit, options: Mapping[str, str], flag: str) -> VectorStore:
    """The app's store of that name; with options, or where the app has none, one of an installed plugin.

    Raises:
        CliError: there is none, or its options are wrong; `flag` is what they are given with.
    """
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
    try:
        return made(index, **values)
    except (ConfigError, InvalidInputError) as error:
        raise CliError(error.message, hint=error.hint) from None


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


def options_of(given: Sequence[str]) -> dict[str, str]:
    """`("host=localhost",)` as a dict."""
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
