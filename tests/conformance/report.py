"""The report: one line per area, the failures, and a last line with the sums.

report(run_all(vectors))     # returns the exit code
"""

import sys
from collections import Counter
from collections.abc import Sequence

from tests.conformance.vector import Outcome


def report(outcomes: Sequence[Outcome]) -> int:
    """Areas go to stdout, what failed and what deviates to stderr, before the sums. Returns 1 when something failed."""
    areas: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        areas.setdefault(outcome.vector.area, []).append(outcome)
    for area in sorted(areas):
        print(area_line(area, areas[area]))
    sys.stdout.flush()
    for outcome in outcomes:
        if outcome.status in ("failed", "deviation"):
            print(f"{outcome.status} {outcome.vector.id}: {outcome.note}", file=sys.stderr)
    sys.stderr.flush()
    print(last_line(outcomes))
    return int(any(outcome.status == "failed" for outcome in outcomes))


def area_line(area: str, outcomes: Sequence[Outcome]) -> str:
    count = Counter(outcome.status for outcome in outcomes)
    line = f"{area:22} {count['passed']} passed, {count['failed']} failed, {count['deviation']} deviations"
    missing = Counter(outcome.note for outcome in outcomes if outcome.status == "n/a")
    if missing:
        line += ", n/a: " + ", ".join(f"{name} ({times})" for name, times in sorted(missing.items()))
    return line


def last_line(outcomes: Sequence[Outcome]) -> str:
    count = Counter(outcome.status for outcome in outcomes)
    return f"{count['passed']} passed, {count['failed']} failed, {count['deviation']} deviations"
