"""What a program pays before its first line: imports, and the command line's --help, beside what they stand on.

    python -m tests.benchmarks.importing

Processor time (user and system) of whole processes, least of 11 in turns. `import flowkit` is compared with the import
of pydantic and the OpenTelemetry API. A program that uses flowkit also needs asyncio and pydantic models: that is set
beside `from flowkit import Flowkit`, with one model, as pydantic loads its machinery with the first.
"""

import os
import resource
import subprocess
import sys

__all__ = ["main"]

ROUNDS = 11
LIMIT = "import pydantic, opentelemetry.trace"
USED = (
    "import asyncio, pydantic, opentelemetry.trace\n"
    "class Query(pydantic.BaseModel):\n    text: str\n    k: int | None = None\n"
)
HELP = "import argparse, json, urllib.request"
PROGRAMS = {
    "pydantic and the OpenTelemetry API": LIMIT,
    "import flowkit": "import flowkit",
    "the same with asyncio and one model": USED,
    "from flowkit import Flowkit": "from flowkit import Flowkit",
    "argparse, json, urllib.request": HELP,
    "flowkit --help": "from flowkit.cli.main import main\nmain(['--help'])",
    "flowkit --version": "from flowkit.cli.main import main\nmain(['--version'])",
}
BARS = (
    ("import flowkit", "pydantic and the OpenTelemetry API", 1.3),
    ("flowkit --help", "argparse, json, urllib.request", 2.0),
    ("flowkit --version", "argparse, json, urllib.request", 2.0),
)


def main() -> None:
    best = dict.fromkeys(PROGRAMS, float("inf"))
    for _ in range(ROUNDS):
        for name, program in PROGRAMS.items():
            best[name] = min(best[name], cpu_seconds(program))
    for name, seconds in best.items():
        print(f"{name:40}{seconds * 1000:>8.0f} ms")
    print()
    used, limit = "from flowkit import Flowkit", "the same with asyncio and one model"
    print(f"      {used} / {limit}: {best[used] / best[limit]:.2f}")
    for name, limit, bar in BARS:
        ratio = best[name] / best[limit]
        print(f"{'ok' if ratio <= bar else 'ABOVE':6}{name} ≤ {bar} × {limit}: {ratio:.2f}")


def cpu_seconds(program: str) -> float:
    """Of one fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, env=os.environ, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{program!r} failed")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
