"""Which app a command is about, and loading it.

place = find_app("shop.flows:ai", cwd=Path.cwd(), root=settings.root)
ai = load_app(place)
"""

import importlib
import importlib.util
import os
import sys
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from flowkit.app import Flowkit
from flowkit.errors import ConfigError, FlowkitError, NotFoundError
from flowkit.server.flows.app import FlowApp

__all__ = ["APP_FILES", "AppImportError", "AppPlace", "find_app", "load_app", "load_flows"]

APP_FILES = ("app.py", "main.py", "flows.py")


class AppImportError(ConfigError):
    """The app's own code raised while it was imported; `__cause__` is what it raised."""


@dataclass(frozen=True, slots=True)
class AppPlace:
    """Where an app is: a module name or a file, and the name of the `Flowkit` in it when it is told."""

    module: str | None
    file: Path | None
    attribute: str | None
    folder: Path
    """Goes to the front of `sys.path`."""
    option: str = ""
    """What stands before an app on the command line: `--app `, or nothing where it is an argument."""

    @property
    def target(self) -> str:
        """The module or the file, for messages."""
        return self.module or _relative(self.file or self.folder)

    @property
    def label(self) -> str:
        """For messages: `app.py`, `shop.flows:ai`."""
        return f"{self.target}:{self.attribute}" if self.attribute else self.target


def find_app(argument: str | None, *, cwd: Path, root: Path, option: str = "") -> AppPlace:
    """The app that is meant: the argument, else pyproject.toml of `root`, else app.py, main.py or flows.py.

    `cwd` is looked at before `root`; of several files the first that mentions flowkit counts. `option` is what stands
    before an app on the command line, for hints.

    Raises:
        NotFoundError: there is none.
        ConfigError: pyproject.toml cannot be read, or says something else than a name.
    """
    if argument is not None:
        return _place(argument, cwd, option)
    configured = _configured(root / "pyproject.toml")
    if configured is not None:
        return _place(configured, root, option)
    folders = [cwd] if cwd == root else [cwd, root]
    files = [folder / name for folder in folders for name in APP_FILES if (folder / name).is_file()]
    if not files:
        where = " or ".join(str(folder) for folder in folders)
        raise NotFoundError(f"no app found: there is no {', '.join(APP_FILES)} in {where}", hint=_ways(option))
    chosen = next((file for file in files if _mentions_flowkit(file)), files[0])
    return AppPlace(None, chosen, None, chosen.parent, option)


def load_app(place: AppPlace) -> Flowkit:
    """Import the app and find its `Flowkit`: the named one, else the only one.

    Raises:
        NotFoundError: no such file or module, no such name in it, or no `Flowkit` at all.
        ConfigError: there are several, or the name is something else.
        AppImportError: the app's code raised.
    """
    return _flowkit_in(_imported(place), place)


def load_flows(place: AppPlace) -> FlowApp:
    """Import the app and find what it serves: its own `ai.asgi(…)` where it has one, since that says who may call, else
    every flow of its `Flowkit`.

    Raises:
        NotFoundError, ConfigError, AppImportError: as `load_app`.
    """
    flows = _flows_in(_imported(place), place)
    flows.dev = False  # strangers call, whatever the environment says
    return flows


def _flows_in(module: ModuleType, place: AppPlace) -> FlowApp:
    named = None if place.attribute is None else getattr(module, place.attribute, None)
    if isinstance(named, FlowApp):
        return named
    found = {name: value for name, value in vars(module).items() if isinstance(value, FlowApp)}
    different = {id(app): app for app in found.values() if named is None or app.ai is named}
    if len(different) > 1:
        hint = f"choose: flowkit serve {place.target}:{next(iter(found))}"
        raise ConfigError(f"{place.target} has several apps made by asgi(): {', '.join(found)}", hint=hint)
    return next(iter(different.values()), None) or FlowApp(_flowkit_in(module, place))


def _flowkit_in(module: ModuleType, place: AppPlace) -> Flowkit:
    found = {name: value for name, value in vars(module).items() if isinstance(value, Flowkit)}
    names = ", ".join(found)
    target = place.target
    if place.attribute is not None:
        if not hasattr(module, place.attribute):
            there = f"it has: {names}" if found else "ai = Flowkit(…) makes one"
            raise NotFoundError(f"{target} has no {place.attribute!r}", hint=there)
        app = getattr(module, place.attribute)
        if not isinstance(app, Flowkit):
            hint = f"a Flowkit is: {names}" if found else None
            raise ConfigError(f"{place.label} is a {type(app).__name__}, not a Flowkit", hint=hint)
        return app
    different = {id(app): app for app in found.values()}
    if not different:
        raise NotFoundError(
            f"{target} has no Flowkit", hint=f"ai = Flowkit(…) makes one; for another file {_ways(place.option)}"
        )
    if len(different) > 1:
        raise ConfigError(
            f"{target} has several Flowkits: {names}", hint=f"choose: {place.option}{target}:{next(iter(found))}"
        )
    return next(iter(different.values()))


def _configured(pyproject: Path) -> str | None:
    try:
        value = tomllib.loads(pyproject.read_text(encoding="utf-8-sig")).get("tool", {}).get("flowkit", {}).get("app")
    except FileNotFoundError:
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{pyproject} cannot be read: {error}") from error
    if value is not None and not (isinstance(value, str) and value):
        raise ConfigError(f"{pyproject}: [tool.flowkit] app is {value!r}", hint='write app = "module:ai"')
    return value


def _place(name: str, base: Path, option: str) -> AppPlace:
    target, _, attribute = name.rpartition(":")
    if not target or not attribute.isidentifier():  # no colon, or the one of C:\
        target, attribute = name.removesuffix(":"), ""
    if target.endswith(".py") or "/" in target or os.sep in target:
        file = (base / Path(target).expanduser()).resolve()
        if file.is_dir():
            file = next((file / each for each in APP_FILES if (file / each).is_file()), file)
        if not file.is_file():
            raise NotFoundError(f"no app found: there is no file {target}", hint=_ways(option))
        if file.suffix != ".py":
            raise NotFoundError(f"no app found: {target} is no Python file", hint=_ways(option))
        return AppPlace(None, file, attribute or None, file.parent, option)
    if not all(part.isidentifier() for part in target.split(".")):
        raise NotFoundError(f"no app found: {name!r} is neither a module nor a file", hint=_ways(option))
    return AppPlace(target, None, attribute or None, base, option)


def _ways(option: str) -> str:
    how = f"name it with {option}module:ai or {option}file.py" if option else "name it as module:ai or file.py"
    return f'{how}, or write [tool.flowkit] app = "module:ai" into pyproject.toml'


def _mentions_flowkit(file: Path) -> bool:
    return b"flowkit" in file.read_bytes().lower()


def _imported(place: AppPlace) -> ModuleType:
    name, folder = _module_name(place.file) if place.file is not None else (place.module or "", place.folder)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        if place.file is not None and "." not in name:
            return _from_file(name, place.file)
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if place.module is not None and error.name is not None and f"{place.module}.".startswith(f"{error.name}."):
            raise NotFoundError(f"no app found: there is no module {error.name!r}", hint=_ways(place.option)) from None
        raise AppImportError(f"{place.label} cannot be imported: {error}") from error
    except (Exception, SystemExit) as error:
        what = error.message if isinstance(error, FlowkitError) else str(error) or "no message"
        raise AppImportError(f"{place.label} cannot be imported: {type(error).__name__}: {what}") from error


def _module_name(file: Path) -> tuple[str, Path]:
    """The dotted name of a file in a package, and the folder from which it is imported."""
    parts, folder = [file.stem], file.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts), folder


def _from_file(name: str, file: Path) -> ModuleType:
    """Import exactly this file, also when another module has its name or the name is no identifier."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None  # a .py file always has a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with ExitStack() as undo:
        undo.callback(sys.modules.pop, name, None)
        spec.loader.exec_module(module)
        undo.pop_all()  # it is imported
    return module


def _relative(path: Path) -> str:
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)
