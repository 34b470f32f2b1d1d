"""What the bundled model can read: English and, by the pieces of words, other languages in Latin letters.

readable("Which dishes are vegan?")          # True
readable("8世紀に日本の首都はどこでしたか。")   # False
"""

import math
from collections.abc import Sequence

from flowkit_local.tokenizer import Tokenizer

__all__ = ["readable", "token_weights"]

_LATIN_ENDS = 0x250
# A BERT vocabulary begins with marks, unused places and single characters; then come whole words, frequent ones first.
_FIRST_WORD = 1996
_PIECE = 0.8


def readable(text: str) -> bool:
    """Whether most letters are Latin ones."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(ord(letter) < _LATIN_ENDS for letter in letters) > len(letters)


def token_weights(ids: Sequence[int], tokenizer: Tokenizer) -> list[float]:
    """How much each token of a question says; they add up to 1. Unknown tokens say nothing.

    One half is shared equally, the other by how rare a word is in English, which its place in the vocabulary tells.
    """
    raw = tokenizer.raw
    unknown = raw.token_to_id("[UNK]")
    words = math.log(raw.get_vocab_size() - _FIRST_WORD)
    equal = [float(token != unknown) for token in ids]
    rare = []
    for token in ids:
        if token == unknown:
            rare.append(0.0)
        elif (raw.id_to_token(token) or "").startswith("##"):
            rare.append(_PIECE)
        else:
            rare.append(math.log(max(1, token - _FIRST_WORD + 1)) / words)
    return [a / (2 * (sum(equal) or 1)) + b / (2 * (sum(rare) or 1)) for a, b in zip(equal, rare, strict=True)]
