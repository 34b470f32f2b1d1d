"""What `make demo` shows: three menus are indexed, then asked, and the last answer is looked at step by step.

python demo.py
"""

import asyncio
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

# Keep the runs of this script, as `flowkit flow:run` does; it is read when the app is made.
os.environ.setdefault("FLOWKIT_TRACES", "1")

from app import Answer, ai, index_menu, menu_qa

FOLDER = Path(os.path.relpath(Path(__file__).parent))
MENUS = ("dinner.pdf", "lunch.pdf", "karte.pdf")
QUESTIONS = ("Which dessert is vegan?", "When is the restaurant closed?", "Wo kann ich reservieren?")
NEXT = (
    ("flowkit start", "this app in the browser: run it, look into every run, and browse its index"),
    ('flowkit flow:run menuQA "How much is the lunch deal?" --stream', "the answer as it comes, then its sources"),
    ('flowkit flow:run menuQA "How tall is the Eiffel Tower?"', "a question that the menus cannot answer"),
    ("flowkit trace:list", "every run so far"),
    ("flowkit store:list", "what is in the index"),
    ("flowkit doctor", "is everything in place?"),
)
COLOURS = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def main() -> None:
    asyncio.run(index_and_ask())
    heading("The last question, step by step")
    sys.stdout.flush()
    subprocess.run([sys.executable, "-m", "flowkit", "trace:get", "latest"], check=True)
    heading("Try next")
    print("  . .venv/bin/activate")
    for command, what in NEXT:
        print(f"  {command}\n      {dim(what)}")


async def index_and_ask() -> None:
    async with ai:
        await index_menus()
        for question in QUESTIONS:
            show(question, await menu_qa(question))


async def index_menus() -> None:
    heading("Three menus: pages are read, cut into chunks, and embedded on this machine")
    total = 0
    for name in MENUS:
        started = time.perf_counter()
        written = await index_menu(FOLDER / name)
        total += written
        what = f"{written} chunks embedded" if written else "nothing new, nothing embedded"
        print(f"  {name:<12}{what:<32}{dim(f'{time.perf_counter() - started:.1f} s')}")
    if not total:
        print(dim("  All of it was in the index already; only new or changed chunks are embedded."))


def show(question: str, answer: Answer) -> None:
    heading(question)
    print(textwrap.fill(" ".join(answer.text.split()), width=78, initial_indent="  ", subsequent_indent="  "))
    for source in answer.citations:
        place = f"{source.file}, page {source.page}"
        quote = textwrap.shorten(source.quote, width=36, placeholder="…")
        print(dim(f"    {place:<20} score {source.score:.2f}  “{quote}”"))


def heading(text: str) -> None:
    print(f"\n\x1b[1m{text}\x1b[0m" if COLOURS else f"\n{text}")


def dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m" if COLOURS else text


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # `make demo | head`: whoever read this has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
