"""What users write by hand is refused in words of ours, with the names that they wrote."""

from collections.abc import Callable
from typing import Any

import pytest

from flowkit import EmbedderInfo, ModelInfo
from flowkit.errors import ConfigError

Make = Callable[[], Any]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: EmbedderInfo(dimensions=3), "bad EmbedderInfo: it has no label"),
        (lambda: ModelInfo(), "bad ModelInfo: it has no label"),
        (lambda: EmbedderInfo(label="x", max_batch_size="many"), "max_batch_size: Input should be a valid integer"),
        (lambda: EmbedderInfo.from_wire({"label": "x", "maxBatchSize": "many"}), "max_batch_size: Input"),
        (lambda: ModelInfo(label="x", supports={"tools": "perhaps"}), "supports.tools: Input should be a valid bool"),
    ],
)
def test_what_is_wrong_is_named(make: Make, said: str):
    with pytest.raises(ConfigError) as caught:
        make()

    assert said in caught.value.message
    assert caught.value.hint
    assert "pydantic" not in str(caught.value)


def test_what_is_right_is_taken():
    info = EmbedderInfo(label="Menu", dimensions=3)

    assert info.to_wire() == {"label": "Menu", "dimensions": 3}
    assert EmbedderInfo.from_wire(info.to_wire()) == info
