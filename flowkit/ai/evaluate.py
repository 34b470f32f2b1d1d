"""Evaluators: judge outputs. Registration; running them over data sets is a command.

    @ai.evaluator("short", display_name="Short", definition="At most 100 characters")
    async def short(case: EvalCase) -> Score: ...
"""

import asyncio
from collections.abc import Callable
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.registry import Registry
from flowkit.errors import InvalidOutputError
from flowkit.schema.evaluation import EvalCase, EvalRequest, EvalResult, Score

__all__ = ["define_evaluator"]

_CONCURRENT = 10


def define_evaluator(
    registry: Registry, name: str, fn: Callable[..., Any], *, display_name: str, definition: str, billed: bool
) -> Action[Any, Any, Any]:
    """Register `fn(case, options?, ctx?) -> Score` (or a number, a bool, an EvalResult) as an evaluator.

    A case that raises becomes a Score with `error`; the others go on.
    """
    call = UserFunction(fn, f"evaluator {name!r}", request=EvalRequest, lead=1)

    async def evaluator(request: EvalRequest, ctx: RunContext) -> list[EvalResult]:
        gate = asyncio.Semaphore(_CONCURRENT)

        async def judge(at: int, case: EvalCase) -> EvalResult:
            case_id = case.test_case_id or str(at)
            async with gate:
                try:
                    result = await call(request, (case,), request.options, ctx)
                except Exception as error:
                    result = Score(error=f"{type(error).__name__}: {error}", status="UNKNOWN")
            return _as_result(result, case_id, name)

        return list(await asyncio.gather(*(judge(at, case) for at, case in enumerate(request.dataset))))

    metadata = {
        "type": "evaluator",
        "evaluator": {
            "evaluatorIsBilled": billed,
            "evaluatorDisplayName": display_name,
            "evaluatorDefinition": definition,
            "customOptions": call.options_schema or {},
        },
    }
    action: Action[Any, Any, Any] = Action(
        "evaluator", name, evaluator, description=call.description or definition, metadata=metadata
    )
    registry.register(action)
    return action


def _as_result(result: Any, case_id: str, name: str) -> EvalResult:
    if isinstance(result, EvalResult):
        return result
    if isinstance(result, bool | int | float | str):
        result = Score(score=result)
    if isinstance(result, Score):
        return EvalResult(test_case_id=case_id, evaluation=result)
    raise InvalidOutputError(
        f"evaluator {name!r} returned {type(result).__name__}", hint="return a Score, an EvalResult, a number or a bool"
    )
