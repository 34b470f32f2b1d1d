"""The runner by itself: what a server on the app's own loop uses."""

import asyncio
import threading
from contextvars import ContextVar

from flowkit import Flowkit
from flowkit.server.runner import Runner, RunRequest
from tests.server.reflection.conftest import until

place: ContextVar[str] = ContextVar("place", default="nowhere")


async def test_a_server_on_the_apps_own_loop_hands_on_what_it_knows_of_the_request(ai: Flowkit):
    @ai.flow()
    async def where():
        yield place.get()
        yield asyncio.get_running_loop() is loop

    loop = asyncio.get_running_loop()
    ai.attach()
    place.set("here")
    run = Runner(ai.registry).start(RunRequest("/flow/where", stream=True), inherit=True)
    await run.opened()

    assert [chunk async for chunk in run.chunks()] == [b'"here"', b"true"]
    assert (await run.answer()).result == b'["here",true]'


async def test_a_run_whose_loop_has_stopped_is_an_error(ai: Flowkit):
    @ai.flow()
    async def forever() -> None:
        await asyncio.sleep(100)

    other = asyncio.new_event_loop()
    thread = threading.Thread(target=other.run_forever)
    thread.start()
    ai.runtime.attach(other)
    await until(other.is_running)
    run = Runner(ai.registry).start(RunRequest("/flow/forever"))
    await run.opened()
    other.call_soon_threadsafe(other.stop)
    await asyncio.to_thread(thread.join)

    assert "event loop has ended" in str((await run.answer()).raised)
    await asyncio.to_thread(other.run_until_complete, cancel_all())
    other.close()


async def cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
