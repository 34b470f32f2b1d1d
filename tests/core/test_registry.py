"""The registry: names are found or explained, and plugins are asked once, whoever asks."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from flowkit import Action, Flowkit
from flowkit.config import Settings
from flowkit.core.once import Once
from flowkit.errors import ConfigError, InvalidInputError, NotFoundError, StateError
from flowkit.plugin import ActionInfo, Kind, Registry


class Shelf:
    """A plugin with models by name. `slow`: set-up and resolve take their time; `fails`: so many set-ups fail."""

    def __init__(self, name: str, *models: str, slow: bool = False, fails: int = 0) -> None:
        self.name = name
        self.models = models
        self.slow = slow
        self.fails = fails
        self.log: list[str] = []
        self.lock = threading.Lock()

    def note(self, what: str) -> None:
        with self.lock:
            self.log.append(what)

    async def setup(self, registry: Registry) -> None:
        self.note("setup")
        await asyncio.sleep(0.01 if self.slow else 0)
        if self.fails:
            self.fails -= 1
            raise ConfigError(f"{self.name} has no key", hint="set SHELF_KEY")

    async def resolve(self, kind: Kind, name: str) -> Action[Any, Any, Any] | None:
        self.note(name)
        await asyncio.sleep(0.01 if self.slow else 0)
        if kind != "model" or name.rpartition("/")[2] not in self.models:
            return None

        async def model(prompt: str) -> str:
            return f"{name}: {prompt}"

        return Action("model", name, model)

    def list(self) -> Sequence[ActionInfo]:
        return [ActionInfo("model", f"{self.name}/{model}", "a model") for model in self.models]

    async def aclose(self) -> None: ...


def app(*plugins: Any) -> Flowkit:
    return Flowkit(plugins=plugins, settings=Settings())


def define(ai: Flowkit, *names: str) -> None:
    for name in names:
        ai.flow(name)(len)


async def hint(find: Callable[[], Any]) -> str:
    with pytest.raises(NotFoundError) as caught:
        await find()
    assert caught.value.http_status == 404
    return caught.value.hint or ""


# Names.


async def test_a_wrong_name_suggests_the_right_one(ai: Flowkit):
    define(ai, "menuQA", "indexMenu")

    assert await hint(lambda: ai.action("/flow/menuqa")) == "did you mean 'menuQA'?"
    assert await hint(lambda: ai.action("/flow/xyz")) == "there are: indexMenu, menuQA"
    assert await hint(lambda: ai.action("/tool/xyz")) == "no tool is registered"
    assert await hint(lambda: ai.action("/tool/menuQA")) == "there is a flow of that name"


async def test_a_missing_plugin_is_named(ai: Flowkit):
    assert await hint(lambda: ai.generate("?", model="googleai/gemini")) == (
        "googleai/… is served by flowkit-google, which is not installed; add its plugin to Flowkit(plugins=[…])"
    )


@pytest.mark.parametrize("key", ["menuQA", "/menuQA", "flow/menuQA", "/floww/menuQA", "/flow/", ""])
async def test_what_is_no_key_is_no_key(ai: Flowkit, key: str):
    with pytest.raises(InvalidInputError, match="is no action key"):
        await ai.action(key)


async def test_a_bare_name_is_enough_when_it_is_unique():
    ai = app(Shelf("local", "small"), Shelf("cloud", "large"))

    assert await (await ai.registry.find("model", "large"))("?") == "cloud/large: ?"
    assert await (await ai.registry.find("model", "cloud/large"))("?") == "cloud/large: ?"


async def test_a_bare_name_that_several_have_is_refused():
    ai = app(Shelf("local", "small"), Shelf("cloud", "small"))

    with pytest.raises(InvalidInputError, match=r"'small' could be cloud/small or local/small"):
        await ai.registry.find("model", "small")


async def test_a_bare_name_stops_working_when_another_one_comes():
    ai = app(Shelf("local", "small"))
    assert (await ai.registry.find("model", "small")).name == "local/small"

    ai.registry.add_plugin(Shelf("cloud", "small"))

    with pytest.raises(InvalidInputError, match="could be"):
        await ai.registry.find("model", "small")


async def test_a_full_name_is_not_ambiguous(ai: Flowkit):
    ai.registry.add_plugin(Shelf("cloud", "small"))

    @ai.model("small")
    def small(request: object) -> str:
        return "mine"

    assert await ai.registry.find("model", "small") is small


async def test_everything_that_could_run_is_listed(ai: Flowkit):
    define(ai, "menuQA")
    ai.registry.add_plugin(Shelf("local", "small"))

    assert ai.registry.keys() == ["/flow/menuQA", "/model/local/small"]
    assert ai.registry.keys("model") == ["/model/local/small"]
    assert [info.description for info in ai.registry.list()][1] == "a model"


# The same name twice.


def test_two_functions_of_one_name_are_refused(ai: Flowkit):
    define(ai, "menuQA")

    with pytest.raises(
        InvalidInputError, match=r"two flows named 'menuQA': in builtins.len and builtins.sum"
    ) as caught:
        ai.flow("menuQA")(sum)
    assert caught.value.http_status == 409


@pytest.mark.parametrize("kind", ["model", "embedder", "retriever", "indexer", "reranker", "tool"])
def test_two_functions_of_one_name_are_refused_for_every_kind(ai: Flowkit, kind: str):
    def one(request, more=None): ...
    def other(request, more=None): ...

    getattr(ai, kind)("it")(one)
    with pytest.raises(InvalidInputError, match="there are two"):
        getattr(ai, kind)("it")(other)


async def test_a_notebook_cell_may_run_twice(ai: Flowkit):
    def cell(answer: str) -> Action[Any, str, Any]:
        @ai.flow()
        async def menu_qa() -> str:
            return answer

        return menu_qa

    first, second = cell("old"), cell("new")

    assert await (await ai.action("/flow/menu_qa"))() == "new"
    assert await first() == "old"
    assert await second() == "new"


async def test_one_name_may_be_of_several_kinds(ai: Flowkit):
    define(ai, "menu")
    ai.tool("menu")(sum)

    assert (await ai.action("/flow/menu")).fn is len
    assert (await ai.action("/tool/menu")).fn is sum


# Plugins.


async def test_a_plugin_that_is_not_needed_is_left_alone():
    local, cloud = Shelf("local", "small"), Shelf("cloud", "large", fails=99)
    ai = app(cloud, local)

    await ai.registry.find("model", "small")
    ai.registry.list()

    assert local.log == ["setup", "local/small"]
    assert cloud.log == []


async def test_of_two_plugins_of_one_name_the_one_that_lists_the_key_is_asked():
    broken, right = Shelf("store", "a", fails=99), Shelf("store", "b")
    ai = app(broken, right)

    assert (await ai.action("/model/store/b")).name == "store/b"
    assert broken.log == []


async def test_a_plugin_is_set_up_and_asked_once_by_many_tasks():
    shelf = Shelf("local", "small", slow=True)
    ai = app(shelf)

    found = await asyncio.gather(*(ai.action("/model/local/small") for _ in range(20)))

    assert shelf.log == ["setup", "local/small"]
    assert len({id(action) for action in found}) == 1


def test_a_plugin_is_set_up_and_asked_once_by_many_threads_and_loops():
    shelf = Shelf("local", "small", slow=True)
    ai = app(shelf)
    together = threading.Barrier(8)

    async def ask() -> Action[Any, Any, Any]:
        together.wait(5)
        return await ai.action("/model/local/small")

    with ThreadPoolExecutor(8) as pool:
        found = [future.result() for future in [pool.submit(asyncio.run, ask()) for _ in range(8)]]

    assert shelf.log == ["setup", "local/small"]
    assert len({id(action) for action in found}) == 1


async def test_a_setup_that_fails_fails_for_all_who_wait_and_works_later():
    shelf = Shelf("local", "small", slow=True, fails=1)
    ai = app(shelf)

    failed = await asyncio.gather(*(ai.action("/model/local/small") for _ in range(3)), return_exceptions=True)

    assert [str(error) for error in failed] == ["local has no key (set SHELF_KEY)"] * 3
    assert shelf.log == ["setup"]
    assert (await ai.action("/model/local/small")).name == "local/small"


async def test_a_setup_that_is_cancelled_is_done_again_for_those_who_wait():
    shelf = Shelf("local", "small", slow=True)
    ai = app(shelf)
    first = asyncio.create_task(ai.action("/model/local/small"))
    await asyncio.sleep(0)
    second = asyncio.create_task(ai.action("/model/local/small"))
    await asyncio.sleep(0)
    first.cancel()

    assert (await second).name == "local/small"
    assert first.cancelled()
    assert shelf.log == ["setup", "setup", "local/small"]


async def test_whoever_stops_waiting_leaves_the_others_alone():
    shelf = Shelf("local", "small", slow=True)
    ai = app(shelf)
    first = asyncio.create_task(ai.action("/model/local/small"))
    await asyncio.sleep(0)
    second = asyncio.create_task(ai.action("/model/local/small"))
    await asyncio.sleep(0)
    second.cancel()

    assert (await first).name == "local/small"
    assert shelf.log == ["setup", "local/small"]


async def test_a_name_that_a_plugin_does_not_have_is_explained():
    ai = app(Shelf("local", "small"))

    assert await hint(lambda: ai.action("/model/local/smal")) == "did you mean 'local/small'?"


def test_what_is_no_plugin_is_refused(ai: Flowkit):
    for wrong, message in (
        (Shelf, r"the class Shelf \(write Shelf\(…\)\)"),
        ("local", "str is no plugin: it lacks name"),
    ):
        with pytest.raises(ConfigError, match=message):
            Flowkit(plugins=[wrong])  # type: ignore[list-item]
        with pytest.raises(ConfigError, match=message):
            ai.registry.add_plugin(wrong)  # type: ignore[arg-type]


async def test_work_that_needs_itself_is_refused():
    once = Once()

    async def circle() -> int:
        return await once.run("a", lambda: once.run("a", circle, keep=True), keep=True)

    with pytest.raises(StateError, match="needs itself"):
        await circle()


def test_plugins_that_are_no_list_are_told_so():
    for wrong in (None, Shelf("local")):
        with pytest.raises(ConfigError, match=r"not a list \(write plugins=\[…\]\)"):
            Flowkit(plugins=wrong)  # type: ignore[arg-type]


def test_a_model_is_given_by_name():
    with pytest.raises(ConfigError, match=r'model is a int .name it: model="local/extractive"'):
        Flowkit(model=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", " \t", "soup\nsalad", "so\x00up", "so\ud800up", "\x1b[31m"])
async def test_a_name_that_cannot_be_said_is_refused_and_the_rest_stays_in_order(ai: Flowkit, name: str):
    @ai.flow
    async def soup() -> str:
        return "soup"

    with pytest.raises(ConfigError, match="name"):
        ai.flow(name)(lambda: "salad")
    with pytest.raises(ConfigError, match=r"a flow needs a name, not '<lambda>' \(write @ai.flow"):
        ai.flow(lambda: "salad")

    assert ai.registry.keys("flow") == ["/flow/soup"]
    assert ai.run_sync("/flow/soup") == "soup"
