"""Every message is as Pinecone's published documents say, and the check of that finds what is not."""

import json
from typing import Any

import pytest

from flowkit import F
from flowkit.rag.stores.contract import SearchQuery
from flowkit.testing.store_contract.base import row
from tests.plugins.pinecone.conftest import Make
from tests.servers.openapi import OpenApi, specs_folder
from tests.servers.pinecone import PineconeServer

pytestmark = pytest.mark.heavy
DATA, CONTROL = "db_data_2025-10.oas.yaml", "db_control_2025-10.oas.yaml"


def published(name: str) -> OpenApi:
    spec = OpenApi.of(name)
    if spec is None:
        pytest.skip(f"Pinecone's published {name} is not at hand; FLOWKIT_SPECS may name its folder")
    return spec


async def test_all_messages_of_a_stores_life_are_checked(server: PineconeServer, make: Make):
    published(DATA)
    published(CONTROL)
    store = make()
    await store.open(create=True, dimension=2)
    await store.upsert([row(f"r{at}", [1, at], n=at, s=str(at)) for at in range(130)])
    await store.search(SearchQuery(vector=[1, 0], where=F("n") > 3))
    await store.search(SearchQuery(vector=[1, 0], where=F("s") > "3"))
    await store.fetch(limit=120)
    await store.delete(where=F("n") < 5)
    await store.clear()
    server.fail("/query", 429)
    await store.search(SearchQuery(vector=[1, 0]))
    await store.stats()

    assert server.checked == len(server.requests)
    assert server.problems == []
    assert {route for _, route, _ in server.requests} == {
        "/indexes", "/indexes/menu", "/describe_index_stats", "/query", "/vectors/upsert", "/vectors/fetch",
        "/vectors/fetch_by_metadata", "/vectors/list", "/vectors/delete",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "answer", "problem"),
    [
        ("/query", {"vector": [1]}, {}, "'topK' is a required property"),
        ("/query", {"topK": 20_000, "vector": [1]}, {}, "maximum of 10000"),
        ("/vectors/upsert", {"vectors": []}, {}, "[] should be non-empty"),
        ("/vectors/upsert", {"vectors": [{"values": [1]}]}, {}, "'id' is a required property"),
        ("/query", {"topK": 1, "vector": [1]}, {"matches": [{"score": 1}]}, "'id' is a required property"),
        ("/nowhere", {}, {}, "no such operation"),
    ],
)
def test_a_message_that_is_not_as_published_is_found(path: str, body: Any, answer: Any, problem: str):
    headers = {"x-pinecone-api-version": "2025-10"}
    found = published(DATA).check("POST", path, query={}, headers=headers, body=body, status=200, answer=answer)
    assert any(problem in each for each in found), found


def test_requests_of_the_client_that_were_kept_are_as_published():
    published(DATA)
    kept = (specs_folder() or pytest.skip("no kept requests")) / "captured-pinecone-9.1.0.jsonl"
    if not kept.is_file():
        pytest.skip(f"there is no {kept.name} beside Pinecone's published documents")
    for line in kept.read_text(encoding="utf-8").splitlines():
        request = json.loads(line)
        spec = published(CONTROL if request["p"].startswith("/indexes") else DATA)
        query = {key: value if isinstance(value, list) else [value] for key, value in request["q"].items()}
        body = json.loads(request["b"]) if request["b"] else None
        found = spec.check(
            request["m"], request["p"], query=query, headers=request["h"], body=body, status=599, answer={}
        )
        assert [each for each in found if "answer 599" not in each] == []
