"""Running vectors: find the adapter of the area, call it, judge the outcome.

run_all(load(Path("tests/conformance/vectors")))
"""

import asyncio
import inspect
import json
import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flowkit.errors import FlowkitError
from tests.conformance import embedding, fusion, ingesting, splitters, stores, transforming, values
from tests.conformance import filters as filter_areas
from tests.conformance.compare import difference
from tests.conformance.vector import NoCounterpart, Outcome, Vector

Adapter = Callable[[Mapping[str, Any]], Any]
"""Takes a vector's input, calls the public API, gives what came out in the shape of `expected`. May be async."""

ADAPTERS: dict[str, Adapter] = {
    **embedding.ADAPTERS,
    **filter_areas.ADAPTERS,
    **fusion.ADAPTERS,
    **ingesting.ADAPTERS,
    **splitters.ADAPTERS,
    **stores.ADAPTERS,
    **transforming.ADAPTERS,
    **values.ADAPTERS,
}


def load(folder: Path) -> list[Vector]:
    """All vectors of all .jsonl files in the folder, in the order of file names and lines."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = path.read_text("utf-8").split("\n")  # not splitlines: strings may hold U+2028
        found += [Vector.from_json(json.loads(line)) for line in lines if line.strip()]
    return found


@cache
def deviations() -> dict[str, str]:
    """Vector id → why flowkit decided otherwise."""
    listed: dict[str, str] = json.loads(Path(__file__).with_name("deviations.json").read_text("utf-8"))
    return listed


def run_all(vectors: Iterable[Vector]) -> list[Outcome]:
    return [run(vector) for vector in vectors]


def run(vector: Vector) -> Outcome:
    """Call the adapter. A refusal is an error of flowkit's tree, or pydantic's; any other exception is a failure."""
    adapter = ADAPTERS.get(vector.area)
    if adapter is None:
        return Outcome(vector, "n/a", vector.area)
    try:
        found = adapter(vector.input)
        if inspect.iscoroutine(found):
            found = asyncio.run(found)
    except NoCounterpart as missing:
        return Outcome(vector, "n/a", str(missing))
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("flowkit"):
            raise
        return Outcome(vector, "n/a", f"{missing.name} is not there")
    except (FlowkitError, ValidationError) as refusal:
        problem = None if vector.must_fail else f"raised {type(refusal).__name__}: {refusal}"
    except Exception as crash:  # noqa: BLE001 - whatever it is, it is this vector's result
        where = traceback.extract_tb(crash.__traceback__)[-1]
        problem = f"crashed in {Path(where.filename).name}:{where.lineno}: {type(crash).__name__}: {crash}"
    else:
        problem = f"should be refused, gave {found!r}" if vector.must_fail else difference(vector.expected, found)
    if problem is None:
        return Outcome(vector, "passed")
    if vector.id in deviations():
        return Outcome(vector, "deviation", deviations()[vector.id])
    return Outcome(vector, "failed", problem)
