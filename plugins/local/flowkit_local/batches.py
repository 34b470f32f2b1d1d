"""Windows and batches: over-long texts cut between words, and texts of like length put together.

windows([0, 1, 1, 2], 2, 2)              # [(0, 1), (1, 3), (3, 4)]: word 1 is not cut
batches([12, 200, 15], budget=256)       # [[1], [2, 0]]
"""

from collections.abc import Sequence

__all__ = ["batches", "windows"]


def windows(words: Sequence[int | None], first: int, rest: int) -> list[tuple[int, int]]:
    """Spans of tokens that cover a text: the first of at most `first` tokens, the others of at most `rest`.

    Args:
        words: for each token, which word of the text it belongs to; a word is cut only when it fills a window alone.
    """
    spans: list[tuple[int, int]] = []
    start, limit = 0, first
    while len(words) - start > limit:
        end = start + limit
        cut = end
        while cut > start and words[cut] is not None and words[cut] == words[cut - 1]:
            cut -= 1
        end = cut if cut > start else end
        spans.append((start, end))
        start, limit = end, rest
    spans.append((start, len(words)))
    return spans


def batches(lengths: Sequence[int], *, budget: int) -> list[list[int]]:
    """Positions grouped so that a group, padded to its longest member, holds at most `budget` tokens (or one text).

    Longest first: on a processor padding is paid in full, and with several workers the last group should be cheap.
    """
    groups: list[list[int]] = []
    widest = 0
    for at in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        if groups and (len(groups[-1]) + 1) * widest <= budget:
            groups[-1].append(at)
        else:
            groups.append([at])
            widest = lengths[at]
    return groups
