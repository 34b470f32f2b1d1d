"""Evaluators: cases are judged one by one, and one that fails is a result."""

import asyncio
from typing import Any

import pytest

from flowkit import EvalCase, EvalResult, Flowkit, Score
from flowkit.errors import InvalidInputError
from flowkit.schema.evaluation import EvalRequest
from tests.support.traced import Spans


def request(*outputs: Any, **options: Any) -> EvalRequest:
    cases = tuple(EvalCase(input="q", output=output, test_case_id=f"c{at}") for at, output in enumerate(outputs))
    return EvalRequest(dataset=cases, eval_run_id="run", options=options or None)


def scores(results: list[EvalResult]) -> list[Any]:
    return [result.evaluation.score for result in results if isinstance(result.evaluation, Score)]


@pytest.mark.parametrize(
    ("answer", "score"), [(Score(score=0.5), 0.5), (0.5, 0.5), (True, True), ("good", "good"), (1, 1)]
)
async def test_an_evaluator_may_return_a_score_or_a_plain_value(ai: Flowkit, answer: Any, score: Any):
    judge = ai.evaluator("judge", display_name="J", definition="d")(lambda case: answer)

    assert scores(await judge(request("x"))) == [score]


async def test_a_case_that_fails_is_a_result_and_the_others_go_on(ai: Flowkit, spans: Spans):
    @ai.evaluator(display_name="Inverse", definition="1 / output")
    async def inverse(case: EvalCase) -> float:
        return 1 / float(case.output)

    results = await inverse(request(2, 0, 4))

    assert scores(results) == [0.5, None, 0.25]
    failed = results[1].evaluation
    assert isinstance(failed, Score)
    assert (failed.status, failed.error) == ("UNKNOWN", "ZeroDivisionError: float division by zero")
    assert spans.states() == {
        "Test Case c0": "success",
        "Test Case c1": "error",
        "Test Case c2": "success",
        "inverse": "success",
    }
    assert [(r.trace_id, r.span_id) for r in results] == [
        (span.trace_hex, span.span_hex) for span in sorted(spans[:3], key=lambda span: span.name)
    ]


async def test_a_result_that_is_no_score_is_an_error_of_its_case(ai: Flowkit):
    judge = ai.evaluator("judge", display_name="J", definition="d")(lambda case: case.output)

    good, bad = await judge(request(1, [1]))

    assert scores([good]) == [1]
    assert isinstance(bad.evaluation, Score)
    assert "returned list" in (bad.evaluation.error or "")


async def test_an_evaluator_may_take_the_whole_request(ai: Flowkit):
    calls: list[int] = []

    @ai.evaluator(display_name="J", definition="d")
    async def judge(request: EvalRequest) -> list[EvalResult]:
        calls.append(len(request.dataset))
        return [EvalResult(test_case_id=str(c.test_case_id), evaluation=Score(score=1)) for c in request.dataset]

    assert scores(await judge(request(1, 2, 3))) == [1, 1, 1]
    assert calls == [3]


async def test_ten_cases_are_judged_at_a_time(ai: Flowkit):
    now = most = 0

    @ai.evaluator(display_name="J", definition="d")
    async def judge(case: EvalCase) -> bool:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return True

    await judge(request(*range(30)))

    assert most == 10


async def test_bad_options_are_no_fault_of_a_case(ai: Flowkit):
    @ai.evaluator(display_name="J", definition="d")
    def judge(case: EvalCase, *, at_most: int = 100) -> bool:
        return len(str(case.output)) <= at_most

    assert scores(await judge(request("abc", at_most=2))) == [False]
    with pytest.raises(InvalidInputError, match="at_most"):
        await judge(request("abc", at_most="many"))


async def test_an_empty_data_set_has_no_results(ai: Flowkit):
    judge = ai.evaluator("judge", display_name="J", definition="d")(lambda case: 1)

    assert await judge(request()) == []
