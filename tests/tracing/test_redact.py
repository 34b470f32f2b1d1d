"""Secrets are replaced by the names of their keys, and by the user's own rules."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowkit.tracing.redact import Redactor, redact

SECRET_KEYS = """
authorization Authorization cookie Set-Cookie setCookie password PASSWORD passwd secret client_secret clientSecret
api-key api_key apiKey APIKEY X-Api-Key access_token accessToken refresh-token id_token token Token private_key
db_password dbPassword stripe-secret GOOGLE_API_KEY github_token next.page.token token_
"""
PUBLIC_KEYS = """
tokens max_tokens maxTokens input-tokens token_count tokenizer secretary cookies passwords author key keys primary_key
password_hint api_key_id authorized 名前
"""
SECRET, PUBLIC = SECRET_KEYS.split(), PUBLIC_KEYS.split()


@pytest.mark.parametrize("key", SECRET)
def test_keys_that_are_secret(key: str):
    assert redact({"a": [{key: {"deep": 1}}]}) == {"a": [{key: "<redacted>"}]}


@pytest.mark.parametrize("key", PUBLIC)
def test_keys_that_are_not(key: str):
    assert redact({key: "value"}) == {key: "value"}


def test_the_reported_case():
    value = {
        "api_key": "k-123",
        "Authorization": "Bearer abc",
        "user": {"phone": "000-0000", "name": "N"},
        "items": [{"password": "p"}],
        "note": "token count is 5",
    }
    assert redact(value) == {
        "api_key": "<redacted>",
        "Authorization": "<redacted>",
        "user": {"phone": "000-0000", "name": "N"},
        "items": [{"password": "<redacted>"}],
        "note": "token count is 5",
    }
    assert value["api_key"] == "k-123"


keys = st.sampled_from(SECRET + PUBLIC) | st.text(max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
)


@given(values, st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")]))
def test_the_quick_look_at_json_text_sees_every_secret_key(value: Any, separators: tuple[str, str]):
    text = json.dumps(value, ensure_ascii=False, separators=separators).encode("utf-8", "replace")
    plain = json.loads(text)

    assert json.loads(Redactor().redact_json(text)) == redact(plain)


def test_text_without_secret_keys_is_not_touched():
    text = b'{ "a" : 1.10, "note": "the password is here", "json": "{\\"token\\":1}" }'
    assert Redactor().redact_json(text) is text


def test_patterns_apply_to_strings_wherever_they_are():
    redactor = Redactor(patterns=[r"\b\d{3}-\d{4}\b", r"^sk-\w+$"])

    assert redactor.redact({"note": "call 555-1234", "list": ["sk-abc", "ask-abc", 5551234]}) == {
        "note": "call <redacted>",
        "list": ["<redacted>", "ask-abc", 5551234],
    }
    assert redactor.redact_json('"naïve 555-1234"'.encode()) == '"naïve <redacted>"'.encode()
    assert redactor.redact_text("no answer from 555-1234") == "no answer from <redacted>"


def test_a_hook_has_the_last_word():
    redactor = Redactor(hook=lambda value: {**value, "phone": "…"})

    assert redactor.redact({"phone": "1", "token": "t"}) == {"phone": "…", "token": "<redacted>"}


@pytest.mark.parametrize("hook", [lambda value: 1 / 0, lambda value: object()], ids=["raises", "returns no JSON"])
def test_a_hook_that_fails_hides_the_value(hook: Any):
    assert Redactor(hook=hook).redact_json(b'{"a":1}') == b'"[REDACTED:error]"'


def test_content_can_be_left_out_altogether():
    assert Redactor(content=False).redact_json(b'{"question":"private"}') == b'"<redacted>"'


def test_text_that_is_no_json_gets_nowhere():
    assert Redactor(patterns=["x"]).redact_json(b'{"password": "hunt') == b'"[REDACTED:error]"'


def test_attributes_are_judged_by_their_last_part_too():
    attributes = {
        "http.request.header.authorization": "Bearer abc",
        "genkit:token": "t",
        "gen_ai.usage.input_tokens": 5,
        "request": '{"api_key":"k","n":1}',
        "looks like JSON": "[password: ",
        "names": ["a", "b"],
    }
    assert Redactor().redact_attributes(attributes) == {
        "http.request.header.authorization": "<redacted>",
        "genkit:token": "<redacted>",
        "gen_ai.usage.input_tokens": 5,
        "request": '{"api_key":"<redacted>","n":1}',
        "looks like JSON": "[password: ",
        "names": ["a", "b"],
    }
