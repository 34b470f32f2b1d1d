"""HTML becomes the text that a reader sees."""

import builtins
import logging

import pytest

from flowkit import Document
from flowkit.errors import ConfigError, InvalidInputError
from flowkit.rag import transform

PAGE = """<!doctype html>
<html lang="en">
<head><title>Soup &amp; more</title><style>p { color: red }</style><script>var p = "<p>no</p>";</script></head>
<body>
  <nav><a href="/">Home</a></nav>
  <article>
    <h1>Tomato   soup</h1>
    <p>Made of&nbsp;tom&shy;atoes.<!-- and love --><br>Served hot.
    <p>See <a href="../bread.html">bread</a>.
    <ul><li>vegan<li>cheap</ul>
    <table><tr><th>Size<th>Price<tr><td>small</td> <td>3.50</td></table>
  </article>
</body>
</html>"""


def page(html: str = PAGE, **metadata: object) -> Document:
    return Document.from_text(html, metadata)


def test_only_the_selected_part_is_kept():
    text = transform.html_to_text("article")(page()).text

    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert lines == [
        "Tomato soup",
        "Made of tomatoes.",
        "Served hot.",
        "See bread.",
        "* vegan",
        "* cheap",
        "SizePrice",
        "small 3.50",
    ]


def test_scripts_and_styles_are_no_text():
    text = transform.html_to_text()(page()).text

    assert text.startswith("Soup & more")
    assert "color" not in text
    assert "var p" not in text
    assert "love" not in text


def test_links_are_made_absolute_by_the_address_of_the_page():
    made = transform.html_to_text("p", include_links=True)(page(url="https://menu.test/soups/tomato.html"))

    assert "bread <https://menu.test/bread.html>." in made.text


def test_a_link_that_cannot_be_made_absolute_is_said_in_the_log(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, logger="flowkit"):
        made = transform.html_to_text("p", include_links=True)(page())

    assert "bread <>." in made.text
    assert "../bread.html" in caplog.text


def test_other_selectors_fill_metadata():
    made = transform.html_to_text("p", metadata_selectors={"title": "h1", "tags": "li"})(page(source="a.html"))

    assert made.metadata == {"source": "a.html", "title": "Tomato soup", "tags": "* vegan\n\n* cheap"}


def test_the_id_is_kept():
    assert transform.html_to_text()(page().with_id("p1")).id == "p1"


def test_a_page_without_text_is_refused_by_name():
    with pytest.raises(InvalidInputError, match=r"'\.none' selects no text in 'a\.html'"):
        transform.html_to_text(".none")(page(source="a.html"))
    with pytest.raises(InvalidInputError, match="no CSS selector"):
        transform.html_to_text("p[")(page())


@pytest.mark.parametrize(
    "html", ["no tags at all", '<?xml version="1.0" encoding="latin-1"?><p>é</p>', "<p>a<div>b</p>c"]
)
def test_odd_html_is_read(html: str):
    assert transform.html_to_text()(page(html)).text


def test_pages_may_nest_deeply():
    assert transform.html_to_text()(page("<div>" * 1500 + "deep" + "</div>" * 1500)).text == "deep"


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def without_lxml(name: str, *args: object) -> object:
        if name.startswith("lxml"):
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", without_lxml)
    with pytest.raises(ConfigError, match=r"flowkit-ai\[web\]"):
        transform.html_to_text()(page())
