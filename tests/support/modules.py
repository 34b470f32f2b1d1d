"""The source tree as data: modules, what they import, and what they define. Nothing is executed.

for module in modules_of(ROOT / "flowkit"): module.name, module.imports, module.exported
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
# top: runs when the module is imported; typing: under TYPE_CHECKING; function: runs later.
Where = Literal["top", "typing", "function"]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    """One imported module; for `from a import b` it is `a.b` when that is a module of ours, else `a`."""

    target: str
    line: int
    where: Where


@dataclass(frozen=True)
class Module:
    name: str
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), str(self.path))

    @property
    def place(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def public(self) -> bool:
        return not any(part.startswith("_") for part in self.name.split("."))

    @cached_property
    def imports(self) -> list[Import]:
        return list(_imports(self.tree.body, "top", self))

    @cached_property
    def exported(self) -> list[str] | None:
        """The names in `__all__`, or None when there is none."""
        for node in self.tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and target.id == "__all__":
                assert isinstance(node, ast.Assign | ast.AnnAssign)
                assert node.value is not None
                return list(ast.literal_eval(node.value))
        return None

    @cached_property
    def defined(self) -> list[str]:
        """The public functions and classes at the top of the module."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return [node.name for node in _top(self.tree.body) if isinstance(node, kinds) and not node.name.startswith("_")]

    def public_functions(self) -> Iterator[tuple[str, Function]]:
        """Functions and methods that a user can call, with their dotted names. `__call__` and the like count."""
        yield from _functions(self.tree.body, self.name)


def modules_of(folder: Path, prefix: str | None = None) -> list[Module]:
    """The modules under a package folder, dotted from that folder's name; [] when there is no such folder."""
    prefix = folder.name if prefix is None else prefix
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if "node_modules" in parts or "static" in parts:
            continue
        dotted = [part for part in (prefix, *parts) if part and part != "__init__"]
        found.append(Module(".".join(dotted), path))
    return found


def flowkit_modules() -> list[Module]:
    return modules_of(ROOT / "flowkit")


def plugin_packages() -> list[Path]:
    return sorted(path for path in ROOT.glob("plugins/*/flowkit_*") if path.is_dir())


def sample_folders() -> list[Path]:
    return sorted(path for path in (ROOT / "samples").glob("*") if path.is_dir())


def _imports(body: list[ast.stmt], where: Where, module: Module) -> Iterator[Import]:
    for node in body:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield Import(alias.name, node.lineno, where)
            case ast.ImportFrom(module=source, names=names, level=0) if source is not None:
                for alias in names:
                    yield Import(_target(source, alias.name), node.lineno, where)
            case ast.ImportFrom():
                raise AssertionError(f"{module.place}:{node.lineno}: imports are absolute here")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _imports(node.body, "function", module)
            case ast.If(test=test) if _is_typing(test):
                yield from _imports(node.body, "typing" if where == "top" else where, module)
                yield from _imports(node.orelse, where, module)
            case _:
                for part in ("body", "orelse", "finalbody", "handlers", "cases"):
                    inner = getattr(node, part, [])
                    for each in inner if isinstance(inner, list) else []:
                        nested = each.body if isinstance(each, ast.ExceptHandler | ast.match_case) else [each]
                        yield from _imports(nested, where, module)


def _target(source: str, name: str) -> str:
    base = ROOT / Path(*source.split("."))
    inside = (base / f"{name}.py").is_file() or (base / name / "__init__.py").is_file()
    return f"{source}.{name}" if inside else source


def _is_typing(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, also those behind an `if` or `try`."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _top([*node.body, *node.orelse])


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
    for node in _top(body):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _functions(node.body, f"{prefix}.{node.name}")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            dunder = node.name.startswith("__") and node.name.endswith("__")
            if dunder or not node.name.startswith("_"):
                yield f"{prefix}.{node.name}", node
