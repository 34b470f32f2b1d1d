"""Object stores for the tests: emulators of Amazon S3, Google Cloud Storage and Azure Blob Storage, each a process.

with amazon() as store: store.put("docs/a.md", b"A."); load.cloud(store.address, **store.settings)
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx

from tests.servers.chroma import WATCHMAN
from tests.support.npm import installed

__all__ = ["Bucket", "amazon", "azure", "google"]

BUCKET = "bistro"
AZURITE = Path(__file__).with_name("azurite")
# Anything will do, but without it moto takes a request for one of a stranger.
AUTHORISED = {
    "authorization": "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
}
# Of itself it serves one connection at a time, and so waits for one that is kept.
GOOGLE = """
import http.server, runpy
http.server.HTTPServer = http.server.ThreadingHTTPServer
runpy.run_module("gcp_storage_emulator", run_name="__main__")
"""
# It says that it keeps connections, and does not.
CLOSE = {"connection": "close"}
# The account that everybody's emulator has; it opens nothing else.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
STARTING_SECONDS = 60


class Bucket(NamedTuple):
    address: str
    """Such as "s3://bistro"."""
    settings: dict[str, Any]
    """For `load.cloud`."""
    put: Callable[[str, bytes], None]
    delete: Callable[[str], None]


@contextmanager
def amazon() -> Iterator[Bucket]:
    """moto's server."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "{port}"]
    with running(command, "/moto-api/") as url, httpx.Client(trust_env=False, headers=AUTHORISED) as client:
        client.base_url = f"{url}/{BUCKET}"
        ok(client.put(""))
        yield Bucket(
            f"s3://{BUCKET}",
            {"endpoint_url": url, "options": {"key": "key", "secret": "secret"}},
            lambda name, data: ok(client.put(f"/{quote(name)}", content=data)),
            lambda name: ok(client.delete(f"/{quote(name)}")),
        )


@contextmanager
def google() -> Iterator[Bucket]:
    """gcp-storage-emulator."""
    command = [sys.executable, "-c", GOOGLE, "start", "--host", "127.0.0.1", "--port", "{port}"]
    with (
        running([*command, "--in-memory"], "/") as url,
        httpx.Client(base_url=url, trust_env=False, headers=CLOSE) as client,
    ):
        ok(client.post("/storage/v1/b", params={"project": "test"}, json={"name": BUCKET}))
        yield Bucket(
            f"gs://{BUCKET}",
            {"endpoint_url": url, "options": {"token": "anon", "project": "test"}},
            lambda name, data: ok(
                client.post(
                    f"/upload/storage/v1/b/{BUCKET}/o",
                    params={"uploadType": "media", "name": name},
                    content=data,
                    headers={"content-type": "application/octet-stream"},
                )
            ),
            lambda name: ok(client.delete(f"/storage/v1/b/{BUCKET}/o/{quote(name, safe='')}")),
        )


@contextmanager
def azure() -> Iterator[Bucket]:
    """Azurite, of npm."""
    from azure.storage.blob import ContainerClient

    main = installed(AZURITE, "the emulator of Azure comes from npm") / "node_modules/azurite/dist/src/blob/main.js"
    command = [
        "node",
        str(main),
        "--blobHost",
        "127.0.0.1",
        "--blobPort",
        "{port}",
        "--silent",
        "--skipApiVersionCheck",
    ]
    with running([*command, "--disableTelemetry", "--location", "{folder}"], "/") as url:
        connection = (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={url}/{ACCOUNT};"
        )
        with ContainerClient.from_connection_string(connection, BUCKET) as client:
            client.create_container()
            yield Bucket(
                f"az://{BUCKET}",
                {"options": {"connection_string": connection}},
                lambda name, data: client.upload_blob(name, data, overwrite=True) and None,
                lambda name: client.delete_blob(name),
            )


def ok(response: httpx.Response) -> None:
    response.raise_for_status()


@contextmanager
def running(command: Sequence[str], path: str) -> Iterator[str]:
    """The address of a server, once it answers. It ends with the process that started it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp()
    filled = [part.format(port=port, folder=folder) if "{" in part else part for part in command]
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHMAN, *filled],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore", "MOTO_S3_CUSTOM_ENDPOINTS": f"http://127.0.0.1:{port}"},
    )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + STARTING_SECONDS
        while True:
            try:
                httpx.get(f"{url}{path}", timeout=5, trust_env=False)
                break
            except httpx.HTTPError:
                if process.poll() is not None or time.monotonic() > deadline:
                    process.kill()
                    raise RuntimeError(f"{json.dumps(filled)} did not start: {process.communicate()[1]}") from None
                time.sleep(0.05)
        yield url
    finally:
        if process.stdin is not None and process.poll() is None:
            process.stdin.write("kill\n")
            process.stdin.close()
        process.wait(30)
        if process.stderr is not None:
            process.stderr.close()
        shutil.rmtree(folder, ignore_errors=True)
