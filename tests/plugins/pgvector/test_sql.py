"""The script for administrators, the rights that a store needs, and names and values that look like SQL."""

from collections.abc import Callable

import psycopg
import pytest

from flowkit import Document, F
from flowkit.errors import BackendError, InvalidInputError, UnsupportedError
from flowkit.plugin import EmbeddedDocument, SearchQuery
from flowkit_pgvector import PgVector, create_sql
from tests.plugins.pgvector.data import ask

pytestmark = [pytest.mark.heavy, pytest.mark.requires("pg", "the store is tested against a real Postgres")]

Maker = Callable[..., PgVector]
HOSTILE = 'Robert\'); DROP TABLE "menu"; -- 50% %s %(x)s {}'


def document(id: str, text: str = "tomato soup", **metadata: object) -> EmbeddedDocument:
    return EmbeddedDocument(Document.from_text(text, metadata, id=id), [1, 0])


async def run_script(dsn: str, script: str) -> None:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(script.encode())


async def shape(dsn: str, schema: str) -> list[tuple[str, ...]]:
    """Columns and indexes of a schema."""
    columns = await ask(
        dsn,
        "SELECT attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull::text, "
        "coalesce(pg_get_expr(adbin, adrelid), '') FROM pg_attribute LEFT JOIN pg_attrdef ON (attrelid, attnum) = "
        "(adrelid, adnum) WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = %s::regnamespace "
        "AND relkind = 'r') AND attnum > 0",
        (f'"{schema}"',),
    )
    indexes = await ask(dsn, "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = %s", (schema,))
    return sorted(tuple(part.replace(schema, "SCHEMA") for part in row) for row in [*columns, *indexes])


async def test_the_script_makes_what_the_store_makes_and_can_run_again(make_store: Maker, dsn: str, index: str):
    columns = {"price": float, "vegan": bool, "name": str}
    script = create_sql("menu", dimension=384, embedder="local/x", schema=f"{index}_a", columns=columns)
    for _ in range(2):
        await run_script(dsn, script)
    await make_store("menu", schema=f"{index}_b", columns=columns).open(create=True, dimension=384, embedder="local/x")

    by_script, by_store = await shape(dsn, f"{index}_a"), await shape(dsn, f"{index}_b")
    assert by_script == by_store
    assert len(by_script) > 30
    assert await ask(dsn, f'SELECT * FROM "{index}_a".indexes') == await ask(dsn, f'SELECT * FROM "{index}_b".indexes')


def test_the_script_is_one_transaction_under_a_lock_that_an_administrator_can_read():
    script = create_sql("menu", dimension=384, columns={"price": float}, schema="50%")

    statements = script.split(";\n\n")
    assert statements[0] == "BEGIN"
    assert statements[1] == "SELECT pg_advisory_xact_lock(hashtextextended('flowkit 50%', 0))"
    assert statements[-1] == "COMMIT;\n"
    assert 'CREATE TABLE IF NOT EXISTS "50%"."index_menu" (' in script
    assert '"meta_price" numeric GENERATED ALWAYS AS (' in script
    assert "USING hnsw (embedding vector_ip_ops)" in script


def test_the_script_says_what_pgvector_cannot_index():
    assert "USING hnsw ((embedding::halfvec(3072)) halfvec_ip_ops)" in create_sql("menu", dimension=3072)
    wide = create_sql("menu", dimension=4096)
    assert "hnsw (" not in wide
    assert wide.startswith("-- 4096 dimensions are too many")
    assert "hnsw (" not in create_sql("menu", dimension=384, index=None)
    with pytest.raises(UnsupportedError, match="16,000"):
        create_sql("menu", dimension=20_000)
    with pytest.raises(InvalidInputError, match="klingon"):
        create_sql("menu", dimension=3, language="klingon")


async def test_a_user_who_may_not_create_works_with_what_the_script_made(make_store: Maker, dsn: str, index: str):
    user = f"app_{index}"
    await run_script(dsn, f'CREATE ROLE "{user}" LOGIN')
    mine = psycopg.conninfo.make_conninfo(dsn, user=user)
    with pytest.raises(BackendError) as caught:
        await make_store("menu", dsn=mine, schema=index).open(create=True, dimension=2)
    assert caught.value.status == "PERMISSION_DENIED"
    assert "create_sql" in (caught.value.hint or "")

    await run_script(dsn, create_sql("menu", dimension=2, schema=index))
    await run_script(
        dsn,
        f'GRANT USAGE ON SCHEMA "{index}" TO "{user}";'
        f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{index}" TO "{user}"',
    )
    store = make_store("menu", dsn=mine, schema=index)
    await store.open(create=True, dimension=2, embedder="local/x")
    await store.upsert([document("a", n=1), document("b", n=2)])
    await store.upsert([document("a", n=3)])

    assert [hit.id for hit in await store.search(SearchQuery(text="soup", vector=[1, 0], where=F("n") > 2))] == ["a"]
    assert await store.delete(ids=["a"]) == 1
    assert (await store.stats()).embedder == "local/x"


@pytest.mark.parametrize("name", [HOSTILE, "名前", "x" * 300, "Menu", "a.b", "a\nb", "select"])
async def test_any_name_can_be_used_for_index_schema_and_columns(make_store: Maker, index: str, name: str):
    schema = f"{index} {name}"[:60]
    options = {"schema": schema, "columns": {name: str}, "namespace": name}
    store = make_store(name, **options)
    await store.open(create=True, dimension=2)
    await store.upsert([document("a", **{name: name}), document("b", **{name: "other"})])
    await store.build_index()

    for where in (F(name) == name, F(name).in_([name]), F(name) != "other", F(name).contains(name)):
        assert [hit.id for hit in await store.search(SearchQuery(vector=[1, 0], where=where))] == ["a"]
    assert [hit.id for hit in await store.search(SearchQuery(text="soup", vector=[1, 0], where=F(name) == name))] == [
        "a"
    ]
    again = make_store(name, **options)
    await again.open(create=False)
    assert (await again.stats()).count == 2
    assert await again.delete(where=F(name) == name) == 1


async def test_names_that_are_alike_are_different_indexes(make_store: Maker, index: str):
    names = ["menu", "Menu", "menu ", "me nu", "me_nu", "ME_NU"]
    for name in names:
        store = make_store(name, schema=index)
        await store.open(create=True, dimension=2)
        await store.upsert([document(name.strip() or "a", of=name)])
    for name in names:
        store = make_store(name, schema=index)
        await store.open(create=False)
        assert [item.document.metadata["of"] for item in (await store.fetch()).items] == [name]


async def test_values_that_look_like_sql_are_only_values(make_store: Maker, dsn: str, index: str):
    store = make_store()
    await store.open(create=True, dimension=2, embedder=HOSTILE)
    await store.upsert([document(HOSTILE, HOSTILE, source=HOSTILE, key=HOSTILE), document("b")])

    assert [key.id async for key in store.manifest(HOSTILE)] == [HOSTILE]
    assert [item.id for item in (await store.fetch(ids=[HOSTILE, "x' OR '1'='1"])).items] == [HOSTILE]
    assert [item.id for item in (await store.fetch(cursor=HOSTILE)).items] == ["b"]
    assert [hit.id for hit in await store.search(SearchQuery(text=HOSTILE))] == [HOSTILE]
    assert (await store.stats()).embedder == HOSTILE
    assert await store.delete(ids=["' OR TRUE --"]) == 0
    assert await store.delete(where=F("key") == "' OR TRUE --") == 0
    assert await store.delete(where=F("key") == HOSTILE) == 1
    assert [item.id for item in (await store.fetch()).items] == ["b"]


@pytest.mark.parametrize("bad", ["", " ", "a\x00b", "a\ud800", "x" * 2000, None, 5])
def test_names_that_postgres_cannot_hold_are_refused_at_once(bad: object):
    with pytest.raises(InvalidInputError):
        PgVector(bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError):
        PgVector("menu", schema=bad)  # type: ignore[arg-type]
    if bad is not None:
        with pytest.raises(InvalidInputError):
            PgVector("menu", namespace=bad)  # type: ignore[arg-type]


def test_choices_that_there_are_not_are_refused_naming_those_there_are():
    for options, words in (
        ({"index": "flat"}, "hnsw"),
        ({"distance": "manhattan"}, "cosine"),
        ({"columns": {"price": list}}, "float"),
        ({"columns": {" ": str}}, "price"),
        ({"ef_search": 0}, "1…1000"),
        ({"pool_size": 0}, "1 or more"),
    ):
        with pytest.raises(InvalidInputError) as caught:
            PgVector("menu", **options)  # type: ignore[arg-type]
        assert words in (caught.value.hint or "")
