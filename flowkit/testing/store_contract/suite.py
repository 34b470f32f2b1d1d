"""All parts of the contract suite in one class.

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path): return MyStore("menu", folder=tmp_path)
"""

from flowkit.testing.store_contract.base import StoreHooks
from flowkit.testing.store_contract.filtering import FilteringTests
from flowkit.testing.store_contract.lifecycle import LifecycleTests
from flowkit.testing.store_contract.reading import ReadingTests
from flowkit.testing.store_contract.scoring import ScoringTests
from flowkit.testing.store_contract.syncing import SyncingTests
from flowkit.testing.store_contract.words import WordsTests
from flowkit.testing.store_contract.writing import WritingTests

__all__ = ["StoreContract"]


class StoreContract(
    LifecycleTests,
    WritingTests,
    ReadingTests,
    ScoringTests,
    FilteringTests,
    WordsTests,
    SyncingTests,
    StoreHooks,
):
    """A pytest class to inherit from. It needs pytest-asyncio in auto mode, and one fixture:

    `store` gives a new `VectorStore` that is not open yet and whose index does not exist. The suite opens it, with
    the dimension that a test needs, and closes it. What the backend cannot do is said by overriding:

    * `modes`: the search modes there are; in the others the suite wants an `UnsupportedError`.
    * `unsupported_filters`: operators (`"contains"`, …) that must raise `UnsupportedFilter`.
    * `exact`: False for approximate search: then only what is far from a tie is compared.
    * `tolerance`: how far a score may be off (default 1e-6).
    * `zero_vectors`: False when the backend refuses a vector of zeros; it must then raise `InvalidInputError`.
    * `big_batch`: how many rows one call is tried with (default 3,000).
    * `make_store(store)`: another object for the same index, as another process would make it. The default gives
      the same object, which is closed and opened again.
    * `settle(store)`: called after writes; for backends that answer later, wait here until they do.

    A test may be left out by overriding it with None, which pytest does not collect; say why beside it.
    """
