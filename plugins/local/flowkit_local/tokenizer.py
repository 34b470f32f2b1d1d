"""A model's own tokenizer: how many tokens a text has, and where they lie.

tokenizer = Local().tokenizer()
tokenizer.count("tomato soup")               # 2, without the marks around a text
tokenizer.offsets("tomato soup")             # [(0, 6), (7, 11)]
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from flowkit.errors import ConfigError

if TYPE_CHECKING:
    import tokenizers

__all__ = ["Tokenizer"]


class Tokenizer:
    """A `tokenizer.json`, read when it is first needed. Never cuts, never pads; may be used from several threads.

    A text that spells a mark of the model ("[SEP]") is tokenised as the text it is.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def __repr__(self) -> str:
        return f"<Tokenizer {self.file.parent.name}>"

    def __reduce__(self) -> tuple[type["Tokenizer"], tuple[Path]]:
        return Tokenizer, (self.file,)

    @cached_property
    def raw(self) -> "tokenizers.Tokenizer":
        """The tokenizer of the `tokenizers` package.

        Raises:
            ConfigError: the file is missing or is no tokenizer.
        """
        from tokenizers import Tokenizer as Raw

        try:
            raw = Raw.from_file(str(self.file))
        except Exception as error:
            raise ConfigError(
                f"cannot read the tokenizer {self.file}: {error}",
                hint="the folder of a model needs the tokenizer.json that was exported with it",
            ) from error
        # The file may say "cut at 128, pad to 128"; both would change texts behind the caller's back.
        raw.no_truncation()
        raw.no_padding()
        raw.encode_special_tokens = True
        return raw

    # One text at a time on purpose: only the package's batch calls start threads, and those print a warning at
    # the next fork. Tokenising is about one hundredth of embedding.

    def encode(self, text: str) -> "tokenizers.Encoding":
        """Tokens of the text, without marks."""
        return self.raw.encode(text, add_special_tokens=False)

    def count(self, text: str) -> int:
        """The number of tokens, without marks."""
        return len(self.encode(text))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The span of each token in characters of `text`, in order."""
        return self.encode(text).offsets
