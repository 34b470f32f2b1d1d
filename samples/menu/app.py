"""Ask a restaurant's menu: a PDF is indexed once, then questions are answered from it. No key, no network.

flowkit flow:run indexMenu dinner.pdf
flowkit flow:run menuQA "What does the lentil shepherd's pie cost?"
"""

from pathlib import Path

from flowkit import Flowkit
from flowkit.rag import parse, split
from flowkit_devstore import DevStore
from flowkit_local import Local

ai = Flowkit(
    plugins=[Local(), DevStore("menu", embedder="local/all-minilm-l6-v2")],
    model="local/extractive",
)
cut = split.recursive(max_chars=400, overlap_chars=0)


@ai.flow("indexMenu")
async def index_menu(path: Path) -> int:
    """Index a menu (PDF); returns the number of chunks written."""
    menu = await ai.run("extract-text", parse.pdf, path)
    chunks = await ai.run("chunk-it", cut, menu)
    report = await ai.index("menu", chunks)
    return report.written


@ai.flow("menuQA")
async def menu_qa(question: str) -> str:
    """Answer a question from the menu, and only from the menu."""
    docs = await ai.retrieve("menu", question, k=3)
    response = await ai.generate(prompt=question, docs=docs)
    return response.text
