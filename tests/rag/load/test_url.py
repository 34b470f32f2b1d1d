"""Pages of the web: what they become, what is refused, and what a page may take."""

import datetime as dt
import gzip
import socket
import ssl
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from flowkit import Document
from flowkit.errors import InvalidInputError
from flowkit.rag import load
from flowkit.rag.load import addresses, fetch
from flowkit.rag.load.addresses import is_public
from tests.rag.parse.papers import paper
from tests.servers.pages import Pages, moved, page


@pytest.fixture
def pages() -> Iterator[Pages]:
    with Pages({"/": page("Hello"), "/menu": page(paper("Soup is 3.50"), "application/pdf")}) as pages:
        yield pages


@pytest.fixture
def one_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """127.0.0.1 stands for the public internet; every other address is as private as it is."""
    real = addresses._is_public
    monkeypatch.setattr(addresses, "_is_public", lambda address: str(address) == "127.0.0.1" or real(address))


def names(monkeypatch: pytest.MonkeyPatch, answers: dict[str, list[str]]) -> list[str]:
    """What each name stands for, look-up by look-up; returns what was looked up."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        given = answers.get(str(host))
        if given is None:
            return real(host, port, *more, **options)
        asked.append(str(host))
        address = given[min(asked.count(str(host)), len(given)) - 1]
        return real(address, port, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


async def items(*addresses: str, **options: Any) -> list[Document | load.Skipped]:
    return [item async for item in load.url(list(addresses), **{"allow_private": True, **options})]


async def reason(address: str, **options: Any) -> str:
    (item,) = await items(address, **options)
    assert isinstance(item, load.Skipped)
    return item.reason


async def document(address: str, **options: Any) -> Document:
    (item,) = await items(address, **options)
    assert isinstance(item, Document), item
    return item


async def test_a_page_becomes_a_document_that_says_where_it_is_from(pages: Pages):
    found = await document(pages.url("/#part"))

    assert found.text == "Hello"
    assert found.metadata == {"source": pages.url("/"), "url": pages.url("/")}


async def test_the_content_type_decides_where_the_address_says_nothing(pages: Pages):
    pages.answers["/bread"] = page("<h1>Bread</h1><script>x</script>", "text/html")

    assert "Soup is 3.50" in (await document(pages.url("/menu"))).text
    assert (await document(pages.url("/bread?a=b.pdf"))).text.strip().endswith("Bread")


async def test_the_charset_that_the_server_says_is_handed_to_the_parser(pages: Pages):
    pages.answers["/old"] = page("Crème brûlée".encode("cp1252"), "text/plain; charset=windows-1252")
    pages.answers["/odd"] = page("Hello", "text/plain; charset=no-such")
    pages.answers["/hex"] = page("Hello", "text/plain; charset=hex")
    given: list[object] = []

    def parser(content: bytes, *, media_type: str | None, encoding: str | None) -> Document:
        given.append((media_type, encoding))
        return Document.from_text(content.decode(encoding or "utf-8"))

    found = await items(pages.url("/old"), pages.url("/odd"), pages.url("/hex"), parser=parser)

    assert [item.text for item in found] == ["Crème brûlée", "Hello", "Hello"]  # type: ignore[union-attr]
    assert given == [("text/plain", "cp1252"), ("text/plain", None), ("text/plain", None)]


async def test_a_page_that_cannot_be_had_is_told_and_the_others_are_loaded(pages: Pages):
    pages.answers["/down"] = page("No", status=503)
    pages.answers["/empty"] = page("")
    loader = load.url([pages.url("/no"), pages.url("/down"), pages.url("/empty"), pages.url("/")], allow_private=True)

    no, down, empty, hello = [item async for item in loader]

    assert isinstance(no, load.Skipped)
    assert isinstance(down, load.Skipped)
    assert isinstance(empty, load.Skipped)
    assert "there is no page" in no.reason
    assert "answers 503 Service Unavailable" in down.reason
    assert (empty.empty, no.empty, down.empty) == (True, False, False)
    assert isinstance(hello, Document)
    assert (await loader.count(), loader.scope) == (4, None)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1", "0.0.0.0"])
async def test_this_machine_is_refused_whatever_it_is_called(pages: Pages, host: str, monkeypatch: pytest.MonkeyPatch):
    # What the system makes of these; the tests' own guard knows them not for this machine.
    names(monkeypatch, {"2130706433": ["127.0.0.1"], "0x7f.1": ["127.0.0.1"]})
    told = await reason(pages.url("/", host=host), allow_private=False)

    assert "is not on the public internet" in told
    assert pages.asked == []


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0", "255.255.255.255",
        "224.0.0.1", "198.18.0.1", "192.0.0.8", "240.0.0.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fd00:ec2::254",
        "ff02::1", "fec0::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::127.0.0.1", "2002:7f00:1::", "2001:db8::1",
        "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2001:0:4136:e378:8000:63bf:80ff:fffe",
    ],
)  # fmt: skip
def test_addresses_that_are_not_of_the_internet(address: str):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_addresses_of_the_internet(address: str):
    assert is_public(address)


@pytest.mark.usefixtures("one_is_public")
async def test_a_redirect_is_followed_and_each_step_of_it_is_checked(pages: Pages):
    pages.answers |= {
        "/a": moved("/b", 301),
        "/b": moved(pages.url("/"), 308),
        "/in": moved(pages.url("/", host="127.0.0.2")),
        "/file": moved("file:///etc/hostname"),
        "/bad": moved("http://[x"),
    }
    found = await document(pages.url("/a"), allow_private=False)

    assert (found.text, found.source, found.metadata["url"]) == ("Hello", pages.url("/a"), pages.url("/"))
    before = len(pages.asked)
    assert "'127.0.0.2' is not on the public internet" in await reason(pages.url("/in"), allow_private=False)
    assert pages.paths[before:] == ["/in"]
    assert "no http or https address" in await reason(pages.url("/file"), allow_private=False)
    assert "is no address" in await reason(pages.url("/bad"), allow_private=False)


async def test_redirects_in_a_circle_end(pages: Pages):
    pages.answers["/round"] = moved("/round")

    assert "more than 5 redirects" in await reason(pages.url("/round"))
    assert len(pages.asked) == 6


@pytest.mark.usefixtures("one_is_public")
async def test_a_name_is_looked_up_once_and_the_connection_goes_to_what_was_checked(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
):
    asked = names(monkeypatch, {"shop.test": ["127.0.0.1", "127.0.0.2"]})

    await document(pages.url("/", host="shop.test"), allow_private=False)

    assert asked == ["shop.test"]
    assert pages.asked[0].address == "127.0.0.1"
    assert pages.asked[0].headers["host"] == f"shop.test:{pages.port}"
    assert "'shop.test' (127.0.0.2)" in await reason(pages.url("/", host="shop.test"), allow_private=False)
    assert len(pages.asked) == 1


async def test_headers_go_along_but_not_to_another_server(pages: Pages):
    with Pages({"/": page("Elsewhere")}) as other:
        pages.answers |= {"/here": moved("/"), "/there": moved(other.url("/"))}
        key = {"Authorization": "Bearer secret"}

        await document(pages.url("/here"), headers=key)
        await document(pages.url("/there"), headers=key)

        assert all(each.headers["authorization"] == "Bearer secret" for each in pages.asked)
        assert "authorization" not in other.asked[0].headers


def slow(request: BaseHTTPRequestHandler) -> None:
    """Never ends, and is never silent for long."""
    request.send_response(200)
    request.send_header("Content-Type", "text/plain")
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    for _ in range(2000):
        request.wfile.write(b"2\r\nab\r\n")
        request.wfile.flush()
        request.connection.settimeout(0.005)
        try:
            if not request.connection.recv(1):
                return
        except TimeoutError:
            continue


def endless(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    for _ in range(10_000):
        request.wfile.write(b"2710\r\n" + b"x" * 10_000 + b"\r\n")


async def test_a_page_that_is_too_large_is_given_up_however_it_is_sent(pages: Pages):
    pages.answers |= {
        "/large": page("x" * 20_000),
        "/endless": endless,
        "/bomb": page(gzip.compress(b"x" * 5_000_000), headers={"Content-Encoding": "gzip"}),
    }
    for path in ("/large", "/endless", "/bomb"):
        assert "has more than 0.01 MB" in await reason(pages.url(path), max_size_bytes=10_000)


async def test_a_page_that_never_ends_is_given_up(pages: Pages):
    pages.answers["/slow"] = slow

    assert "took more than 0.3 seconds" in await reason(pages.url("/slow"), timeout_seconds=0.3)


async def test_a_server_that_breaks_off_or_is_not_there_is_told(pages: Pages):
    pages.answers["/odd"] = page("abc", headers={"Content-Encoding": "gzip"})

    def close(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        request.close_connection = True

    pages.answers["/short"] = close
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert "cannot be reached" in await reason(f"http://127.0.0.1:{port}/")
    assert "broke off" in await reason(pages.url("/short"))
    assert "broke off" in await reason(pages.url("/odd"))
    assert "no host 'nowhere.invalid'" in await reason("http://nowhere.invalid/")


async def test_a_key_in_the_query_is_not_told(pages: Pages):
    assert "secret" not in await reason(pages.url("/no?key=secret"))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://shop.test/a", "no http or https address"),
        ("shop.test", "no http or https address"),
        ("file:///etc/passwd", "no http or https address"),
        ("http:///x", "names no host"),
        ("http://a b/", "names no host"),
        ("http://[x", "is no address"),
        ("http://a:99999/", "is no address"),
        ("https://user:pass@shop.test/", "has credentials in it"),
        ("https://shop.test/a\x01b", "has control characters"),
        ("https://shop.test/?q=\x7f", "has control characters"),
        ("https://shop.test/\udc80", "has control characters"),
        ("https://shop.test/" + "a" * 20_000, "is too long"),
    ],
)
def test_what_is_no_address_is_said_at_once(address: str, message: str):
    with pytest.raises(InvalidInputError, match=message):
        load.url(address)


def test_headers_that_would_send_the_request_elsewhere_are_refused():
    with pytest.raises(InvalidInputError, match="'Host' is not yours"):
        load.url("https://shop.test", headers={"Host": "metadata"})


@pytest.mark.parametrize(("name", "value"), [("X-Käse", "1"), ("X-Key", "Käse"), ("X-Key", "a\r\nHost: b"), ("", "1")])
def test_what_is_no_header_is_said_at_once(name: str, value: str):
    with pytest.raises(InvalidInputError, match="is no header with a value"):
        load.url("https://shop.test", headers={name: value})


async def test_a_redirect_to_what_is_no_address_skips_that_page_alone(pages: Pages):
    pages.answers["/moved"] = moved("/" + "a" * 20_000)

    found = await items(pages.url("/moved"), pages.url("/"))

    assert [isinstance(item, Document) for item in found] == [False, True]


def test_one_address_has_one_form():
    assert fetch.checked_url("HTTPS://Shop.Test:443#top") == "https://shop.test/"
    assert fetch.checked_url(" http://[::1]:80/a?b=c#d ") == "http://[::1]/a?b=c"


async def test_certificates_are_checked_for_the_name_though_the_address_is_dialled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    certificate = signed_for("shop.test", tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    fetch._trust.cache_clear()
    names(monkeypatch, {"shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]})
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    try:
        with Pages({"/": page("Safe")}, tls=tls) as pages:
            assert (await document(pages.url("/", host="shop.test"))).text == "Safe"
            assert "other.test" in await reason(pages.url("/", host="other.test"))
            assert len(pages.asked) == 1
    finally:
        fetch._trust.cache_clear()


def signed_for(name: str, folder: Path) -> Path:
    """A file with a key, and a certificate of that name which signs itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate"
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(secret + certificate.public_bytes(pem))
    return file
