"""What an evaluator gets and gives, in Genkit's JSON forms.

EvalCase(input="Q", output="A", reference="A", test_case_id="1")
"""

from typing import Literal

from flowkit.schema.wire import JSON, Wire

__all__ = ["EvalCase", "EvalRequest", "EvalResult", "Score"]


class EvalCase(Wire):
    input: JSON
    output: JSON = None
    context: tuple[JSON, ...] | None = None
    reference: JSON = None
    test_case_id: str | None = None
    trace_ids: tuple[str, ...] | None = None


class EvalRequest(Wire):
    dataset: tuple[EvalCase, ...]
    eval_run_id: str
    options: JSON = None


class Score(Wire):
    id: str | None = None
    score: float | str | bool | None = None
    status: Literal["UNKNOWN", "PASS", "FAIL"] | None = None
    error: str | None = None
    details: dict[str, JSON] | None = None


class EvalResult(Wire):
    test_case_id: str
    sample_index: int | None = None
    trace_id: str | None = None
    span_id: str | None = None
    evaluation: Score | tuple[Score, ...]
