"""The house keeps its shape: layers point one way, files stay small, names are public or private, imports are light."""

import graphlib
import importlib
import os
import re
import subprocess
import sys

import pytest

from tests.support.modules import ROOT, Module, flowkit_modules, modules_of, plugin_packages, sample_folders

# Lowest first. A part imports from its own and from lower rows; parts of one row do not know each other.
# "flowkit" is the face, flowkit/__init__.py.
LAYERS = (
    ("flowkit.errors",),
    ("flowkit.config",),
    ("flowkit.schema",),
    ("flowkit.core",),
    ("flowkit.ai", "flowkit.tracing"),
    ("flowkit.rag",),
    ("flowkit.app", "flowkit.plugin"),
    ("flowkit",),
    ("flowkit.server",),
    ("flowkit.cli",),
    ("flowkit.__main__",),
    ("flowkit.testing",),
)
# The app object starts the server only when it is asked to, so it imports it only then.
LATE = {("flowkit.app", "flowkit.server")}
# In these, a module may import another of the project inside a function: commands and test helpers load what they
# need when they run.
LATE_PARTS = ("flowkit.cli", "flowkit.testing")
SURFACES = ("flowkit", "flowkit.errors", "flowkit.plugin", "flowkit.rag", "flowkit.testing")
# `**` in the public API is for the user's own keys or arguments.
USER_DATA = {
    "flowkit.app.Flowkit.run",
    "flowkit.core.action.Action.__call__",
    "flowkit.core.action.Action.stream",
    "flowkit.schema.documents.Document.with_metadata",
    "flowkit.schema.metadata.Metadata.update",
    "flowkit.testing.store_contract.base.row",
}
HEAVY = {
    "chardet",
    "chromadb",
    "click",
    "cryptography",
    "httpx",
    "numpy",
    "office_oxide",
    "onnxruntime",
    "opentelemetry.sdk",
    "pypdf",
    "pypdfium2",
    "rich",
    "semchunk",
    "starlette",
    "tokenizers",
    "uvicorn",
    "watchfiles",
    "websockets",
}
LINES = 400
SOURCES = (".py", ".ts", ".tsx", ".css")

OURS = flowkit_modules()
PUBLIC = [module for module in OURS if module.public]
PLUGINS = [module for package in plugin_packages() for module in modules_of(package)]
SAMPLES = [module for folder in sample_folders() for module in modules_of(folder)]


def by_name(module: Module) -> str:
    return module.name


def part_of(name: str) -> str:
    """The row entry that a module belongs to: flowkit.schema.filters.ast is of flowkit.schema."""
    return "flowkit" if name == "flowkit" else ".".join(name.split(".")[:2])


def row_of(name: str) -> int:
    return next(row for row, parts in enumerate(LAYERS) if part_of(name) in parts)


def is_ours(name: str) -> bool:
    return name == "flowkit" or name.startswith("flowkit.")


@pytest.mark.parametrize("module", OURS, ids=by_name)
def test_every_module_belongs_to_a_layer(module: Module):
    assert any(part_of(module.name) in parts for parts in LAYERS), f"say in LAYERS where {module.place} stands"


@pytest.mark.parametrize("module", OURS, ids=by_name)
def test_layers_point_one_way(module: Module):
    wrong = []
    for found in module.imports:
        if not is_ours(found.target):
            continue
        mine, theirs = part_of(module.name), part_of(found.target)
        late = found.where == "function" and (mine, theirs) in LATE
        if mine != theirs and row_of(theirs) >= row_of(mine) and not late:
            wrong.append(f"{module.place}:{found.line} imports {found.target}, which is not below {mine}")
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_over_others():
    ours = {module.name for module in OURS}
    graph = {
        module.name: {found.target for found in module.imports if found.where == "top" and found.target in ours}
        for module in OURS
    }
    for name, targets in graph.items():
        targets.discard(name)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail("a circle of imports: " + " ← ".join(error.args[1]), pytrace=False)


@pytest.mark.parametrize("module", OURS, ids=by_name)
def test_own_modules_are_imported_at_the_top(module: Module):
    """Inside functions only in the CLI and the test helpers, within one part (to break a circle), or as LATE says."""
    mine = part_of(module.name)
    wrong = [
        f"{module.place}:{found.line} imports {found.target} inside a function"
        for found in module.imports
        if found.where == "function"
        and is_ours(found.target)
        and mine not in LATE_PARTS
        and mine != part_of(found.target)
        and (mine, part_of(found.target)) not in LATE
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", [*PLUGINS, *SAMPLES], ids=lambda module: module.place)
def test_plugins_and_samples_use_the_public_surfaces(module: Module):
    wrong = [
        f"{module.place}:{found.line} imports {found.target}"
        for found in module.imports
        if is_ours(found.target) and found.target not in SURFACES and not found.target.startswith("flowkit.rag.")
    ]
    assert not wrong, "\n".join([*wrong, "plugins and samples import from " + ", ".join(SURFACES)])


@pytest.mark.parametrize("module", [*PUBLIC, *PLUGINS], ids=by_name)
def test_every_public_name_is_in_all(module: Module):
    missing = set(module.defined) - set(module.exported or ())
    if module.path.name != "__main__.py":
        assert not missing, f"{module.place}: put in __all__, or begin with an underscore: {', '.join(sorted(missing))}"


@pytest.mark.parametrize("module", [*PUBLIC, *PLUGINS], ids=by_name)
def test_all_is_sorted_and_true(module: Module):
    exported = module.exported
    if exported is None:
        return
    assert exported == sorted(exported, key=_order), f"{module.place}: __all__ is not sorted"
    assert len(exported) == len(set(exported)), f"{module.place}: a name is twice in __all__"
    loaded = importlib.import_module(module.name)
    assert [name for name in exported if not hasattr(loaded, name)] == [], f"{module.place}: not there"


@pytest.mark.parametrize("module", PUBLIC, ids=by_name)
def test_no_public_function_takes_any_keyword(module: Module):
    wrong = [
        f"{module.place}:{function.lineno} {name}(**{function.args.kwarg.arg})"
        for name, function in module.public_functions()
        if function.args.kwarg is not None and name not in USER_DATA
    ]
    assert not wrong, "\n".join(wrong)


def test_the_allow_list_of_keywords_is_true():
    """An entry that no longer exists goes."""
    taking = {name for module in OURS for name, function in module.public_functions() if function.args.kwarg}
    assert taking >= USER_DATA


def test_files_stay_small():
    long = []
    for folder in ("flowkit", "plugins", "samples", "tests", "devui"):
        for path in sorted((ROOT / folder).rglob("*")):
            skipped = {"node_modules", "static", "dist", "build"} & set(path.relative_to(ROOT).parts)
            generated = path.name == "schema.d.ts"
            if path.suffix in SOURCES and not skipped and not generated:
                lines = len(path.read_text(encoding="utf-8").splitlines())
                if lines > LINES:
                    long.append(f"{path.relative_to(ROOT)}: {lines} lines")
    assert not long, "\n".join([f"more than {LINES} lines: is there room for two ideas?", *long])


def test_importing_flowkit_is_light():
    loaded = modules_after("from flowkit import Flowkit")

    assert "flowkit.app" in loaded
    assert HEAVY & loaded == set()


def test_reading_the_help_does_not_load_the_framework():
    loaded = modules_after("from flowkit.cli.main import main; main(['--help'])")

    assert {"pydantic", "opentelemetry", "flowkit.app", "flowkit.core"} & loaded == set()
    assert (HEAVY - {"click"}) & loaded == set()


def modules_after(code: str) -> set[str]:
    """The modules in a new process after `code`, which may exit."""
    program = f"""
import atexit, sys
atexit.register(lambda: print("\\nLOADED", *sys.modules, file=sys.stderr))
{code}
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *(str(path.parent) for path in plugin_packages())])}
    run = subprocess.run([sys.executable, "-c", program], env=env, cwd=ROOT.anchor, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(run.stderr.rpartition("\nLOADED ")[2].split())


def _order(name: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Constants, classes, the rest; numbers in names by value. It is the linter's order."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    pieces = re.findall(r"\d+|\D+", name)
    return kind, [(0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in pieces]
