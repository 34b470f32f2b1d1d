"""The pgvector plugin: vector indexes in Postgres, made and migrated by the plugin, or tables that you have already.

from flowkit_pgvector import PgVector
ai = Flowkit(plugins=[PgVector("menu", dsn="postgresql://localhost/app", embedder="local/all-minilm-l6-v2")])
"""

from flowkit_pgvector.ddl import create_sql
from flowkit_pgvector.layout import Distance, Method
from flowkit_pgvector.source import Query, Table
from flowkit_pgvector.store import PgVector

__all__ = ["Distance", "Method", "PgVector", "Query", "Table", "create_sql"]
