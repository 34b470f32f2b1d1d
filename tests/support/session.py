"""Runs the Python blocks of a page one after the other, in one namespace, in a process of its own.

Started by `page.py`. Each request and each answer is one line of JSON:

    {"code": "x = await f()", "file": "README.md", "line": 12}  →  {"output": "", "error": null}
"""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import sys
import traceback
import types

# So that types that the blocks define are found by name, as in a script.
NAMESPACE = types.ModuleType("__main__")


def answer(runner: asyncio.Runner, request: dict[str, str | int]) -> dict[str, str | None]:
    # Empty lines before the code make a traceback point at the page.
    code = "\n" * (int(request["line"]) - 1) + str(request["code"])
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            compiled = compile(code, str(request["file"]), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            result = eval(compiled, NAMESPACE.__dict__)
            if inspect.iscoroutine(result):
                runner.run(result)
        except BaseException:  # noqa: BLE001 - whatever it is, the page's test shows it
            return {"output": output.getvalue(), "error": traceback.format_exc()}
    return {"output": output.getvalue(), "error": None}


def main() -> None:
    sys.modules["__main__"] = NAMESPACE
    answers = sys.stdout
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            print(json.dumps(answer(runner, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
