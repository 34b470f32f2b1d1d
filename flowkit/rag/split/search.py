"""The furthest position that passes a test, found in few tries.

furthest(lambda end: count(text[:end]) <= 300, 0, len(text), guess=1200)
"""

from collections.abc import Callable

__all__ = ["furthest"]


def furthest(passes: Callable[[int], bool], low: int, high: int, guess: int) -> int:
    """The largest position in low…high that passes; `low` itself is taken for granted.

    Steps outward from `guess` in doubling steps, then halves. Assumes that what lies before a passing position passes
    too; where that is not quite so, the answer still passes, but may not be the very furthest.
    """
    step = max(1, (guess - low) // 8)
    at = min(max(guess, low + 1), high)
    if low >= high:
        return low
    good, bad = low, high + 1
    while good + 1 < bad:
        if passes(at):
            good = at
            at = at + step if bad > high else (good + bad) // 2
        else:
            bad = at
            at = at - step if good == low else (good + bad) // 2
        step *= 2
        at = min(max(at, good + 1), bad - 1, high)
    return good
