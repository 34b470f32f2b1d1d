"""Evaluators: judge outputs. Registration; running them over data sets is a command.

@ai.evaluator("short", display_name="Short", definition="At most 100 characters")
async def short(case: EvalCase) -> Score: ...
"""

import asyncio
from collections.abc import Callable
from typing import Any

from flowkit.ai.define import UserFunction
from flowkit.ai.step import run_step
from flowkit.core.action import Action
from flowkit.core.context import RunContext, current_run
from flowkit.errors import InvalidOutputError
from flowkit.schema.evaluation import EvalCase, EvalRequest, EvalResult, Score

__all__ = ["EvaluatorAction", "make_evaluator"]

EvaluatorAction = Action[EvalRequest, list[EvalResult], Any]

_CONCURRENT = 10


def make_evaluator(
    name: str, fn: Callable[..., Any], *, display_name: str, definition: str, billed: bool = False
) -> EvaluatorAction:
    """An evaluator of `fn(case, options?, ctx?) -> Score` (or a number, a bool, text, an EvalResult); not registered.

    Cases are judged ten at a time, each in a span of its own. One that raises becomes a Score with `error`; the others
    go on. `fn(request)` judges all cases itself and returns their results.
    """
    call = UserFunction(fn, f"evaluator {name!r}", request=EvalRequest, lead=1)

    async def evaluator(request: EvalRequest, ctx: RunContext) -> list[EvalResult]:
        if call.whole:
            return list(await call.start(request, (request,), request.options, ctx))
        if request.dataset:
            call.bind(request, request.dataset[:1], request.options, ctx)  # bad options are no case's fault
        turn = asyncio.Semaphore(_CONCURRENT)

        async def judge(at: int, case: EvalCase) -> EvalResult:
            case_id = case.test_case_id or str(at)
            ids: list[str | None] = [None, None]

            async def test_case(case: EvalCase) -> Any:
                run = current_run() or ctx
                ids[:] = run.trace_id, run.span_id
                return await call.start(request, (case,), request.options, run)

            async with turn:
                try:
                    result = await run_step(action.runtime, f"Test Case {case_id}", test_case, (case,), {})
                except Exception as error:  # noqa: BLE001  the failure of one case is its result
                    result = Score(error=f"{type(error).__name__}: {error}", status="UNKNOWN")
            if isinstance(result, EvalResult):
                return result
            score = _score(result, name)
            return EvalResult(test_case_id=case_id, evaluation=score, trace_id=ids[0], span_id=ids[1])

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
    description = call.description or definition
    action: EvaluatorAction = Action(
        "evaluator", name, evaluator, description=description, metadata=metadata, plain=call.fn
    )
    return action


def _score(result: Any, name: str) -> Score:
    if isinstance(result, Score):
        return result
    if isinstance(result, bool | int | float | str):
        return Score(score=result)
    error = InvalidOutputError(
        f"evaluator {name!r} returned {type(result).__name__}", hint="return a Score, an EvalResult, a number or a bool"
    )
    return Score(error=str(error), status="UNKNOWN")
