"""Run every vector of a folder and print one line per area.

python -m tests.conformance DIR
"""

import sys
from pathlib import Path

from tests.conformance.report import report
from tests.conformance.run import load, run_all

USAGE = "usage: python -m tests.conformance DIR     (a folder of .jsonl files)"


def main(arguments: list[str]) -> int:
    """0 when nothing failed, 1 when something did, 2 for a wrong call."""
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    folder = Path(arguments[0])
    if not folder.is_dir():
        print(f"{folder} is no folder\n{USAGE}", file=sys.stderr)
        return 2
    vectors = load(folder)
    if not vectors:
        print(f"{folder} has no vectors (*.jsonl)", file=sys.stderr)
        return 2
    return report(run_all(vectors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
