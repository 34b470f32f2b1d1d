"""One ONNX model loaded in this process: token ids in, token states or pooled vectors out.

session = OnnxSession(file, pooling="mean")
session.vectors([[101, 11642, 102]])         # float32, one row per text, not normalised
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from flowkit.errors import BackendError, ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["OnnxSession", "Pooling"]

Pooling = Literal["mean", "cls"]

_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_ERRORS_ONLY = 3


class OnnxSession:
    """Runs on the calling thread only, so several threads may run it at once, one processor each.

    Threads inside a run would spin while they wait, which costs more than it gives on a busy machine, and they are
    placed by guess in containers.
    """

    def __init__(self, file: Path, *, pooling: Pooling) -> None:
        """Read the model (0.1 to 0.6 s for 22 MB of weights).

        Raises:
            ConfigError: the file is no model that turns token ids into states.
        """
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.inter_op.allow_spinning", "0")
        options.log_severity_level = _ERRORS_ONLY
        # Shapes differ from batch to batch; remembered memory plans would only pile up.
        options.enable_mem_pattern = False
        try:
            self._session = ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ConfigError(f"cannot load the model {file}: {error}", hint="export it again as ONNX") from error
        self.file = file
        self.pooling = pooling
        self._int32 = set()
        self._inputs = []
        for given in self._session.get_inputs():
            if given.name not in _KNOWN_INPUTS:
                raise ConfigError(
                    f"the model {file} wants an input {given.name!r}",
                    hint="only text encoders with input_ids, attention_mask and token_type_ids are run here",
                )
            self._inputs.append(given.name)
            if given.type == "tensor(int32)":
                self._int32.add(given.name)
        self._output, self.dimension = self._state_output()

    def _state_output(self) -> tuple[str, int]:
        """The output with one state per token: [texts, tokens, dimension]."""
        outputs = [output for output in self._session.get_outputs() if len(output.shape) == 3]
        by_name = {output.name: output for output in outputs}
        chosen = by_name.get("last_hidden_state") or by_name.get("token_embeddings") or next(iter(outputs), None)
        if chosen is None or not isinstance(chosen.shape[2], int):
            shown = ", ".join(f"{o.name} {o.shape}" for o in self._session.get_outputs())
            raise ConfigError(
                f"the model {self.file} has no output with one state per token, only {shown}",
                hint="export it for the task feature-extraction",
            )
        return chosen.name, chosen.shape[2]

    def states(self, rows: Sequence[Sequence[int]]) -> "list[Floats]":
        """The last layer's states of each text: one row per token, marks included."""
        hidden, _ = self._run(rows)
        return [hidden[at, : len(row)] for at, row in enumerate(rows)]

    def vectors(self, rows: Sequence[Sequence[int]]) -> "Floats":
        """One pooled vector per text, marks included in the mean, as the models were trained. Not normalised."""
        hidden, mask = self._run(rows)
        if self.pooling == "cls":
            return hidden[:, 0, :]
        weights = mask.astype(hidden.dtype)
        summed = (weights[:, None, :] @ hidden)[:, 0, :]
        pooled: Floats = summed / weights.sum(axis=1, keepdims=True)
        return pooled

    def _run(self, rows: Sequence[Sequence[int]]) -> "tuple[Floats, NDArray[np.int64]]":
        import numpy as np

        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: feed[name].astype(np.int32) if name in self._int32 else feed[name] for name in self._inputs}
        try:
            (hidden,) = self._session.run([self._output], feed)
        except Exception as error:
            raise BackendError(
                f"the model {self.file} failed on {len(rows)} texts of up to {longest} tokens: {error}",
                hint="is max_tokens above what the model was trained for?",
            ) from error
        return hidden.astype(np.float32, copy=False), mask
