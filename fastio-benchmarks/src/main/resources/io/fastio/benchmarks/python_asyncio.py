"""CPython asyncio as a subject: answers requests from standard input, one line each. See Subject.java for their meaning."""
import asyncio
import gc
import platform
import random
import socket
import sys
import threading
import time

TIMERS, TIMER_S, HOGS, HOG_S = 3, 0.030, 10, 0.010
now = time.perf_counter_ns


class Lap:
    """Times a ring that takes turns in FIFO order; see Lap.java."""

    def __init__(self, tasks, millis):
        self.tasks, self.nanos = tasks, millis * 1_000_000
        self.per_look = max(1, 2000 // tasks)
        self.left = self.per_look * 2
        self.rounds = -1
        self.start = self.elapsed = 0
        self.running = True

    def more(self):
        self.left -= 1
        return self.left > 0 or self.look()

    def look(self):
        self.left = self.per_look
        if self.rounds < 0:
            self.rounds, self.start = 0, now()
            return True
        self.rounds += self.per_look
        self.elapsed = now() - self.start
        self.running = self.elapsed < self.nanos
        return self.running

    def reading(self):
        return [f"= ns={self.elapsed / (self.rounds * self.tasks)}"]


def samples(values):
    return ["# " + " ".join(map(str, values))] if values else []


async def rate(tasks, millis):
    lap = Lap(tasks, millis)

    async def first():
        while lap.more():
            await asyncio.sleep(0)

    async def other():
        while lap.running:
            await asyncio.sleep(0)

    await asyncio.gather(first(), *(other() for _ in range(tasks - 1)))
    return lap.reading()


async def callbacks(millis, later=False):
    lap = Lap(1, millis)
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def call():
        if not lap.more():
            done.set_result(None)
        elif later:
            loop.call_later(0, call)
        else:
            loop.call_soon(call)

    call()
    await done
    return lap.reading()


async def timing(millis):
    end = now() + millis * 1_000_000
    fired = []

    async def timer():
        while now() < end:
            start = now()
            await asyncio.sleep(TIMER_S)
            if now() < end:
                fired.append((now() - start) / 1e6)

    await asyncio.gather(*(timer() for _ in range(TIMERS)), *(hog(lambda: now() < end, HOG_S) for _ in range(HOGS)))
    return samples(fired)


async def hog(running, seconds):
    while running():
        until = now() + seconds * 1e9
        while now() < until:
            pass
        await asyncio.sleep(0)


async def wake(count):
    loop = asyncio.get_running_loop()
    flag = asyncio.Event()
    micros = []
    sent = 0
    source = random.Random(2025)

    def ring():
        nonlocal sent
        for i in range(count):
            time.sleep(source.uniform(0.0005, 0.002))
            sent = now()
            loop.call_soon_threadsafe(flag.set)
            while len(micros) <= i:
                time.sleep(0.0001)

    thread = threading.Thread(target=ring, daemon=True)
    thread.start()
    while len(micros) < count:
        await flag.wait()
        micros.append((now() - sent) / 1e3)
        flag.clear()
    thread.join()
    return samples(micros)


async def sleepers(tasks):
    source = random.Random(7)
    late = []
    start = time.process_time_ns()

    async def nap():
        for _ in range(3):
            millis = source.randint(1, 1000)
            begin = now()
            await asyncio.sleep(millis / 1000)
            late.append((now() - begin) / 1e3 - millis * 1e3)

    await asyncio.gather(*(nap() for _ in range(tasks)))
    cpu = (time.process_time_ns() - start) / len(late)
    late.sort()
    n = len(late) - 1
    return [f"= cpu_ns={cpu} late_p50_us={late[n // 2]} late_p99_us={late[n * 99 // 100]} late_max_us={late[n]}"]


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


async def memory(tasks):
    gc.collect()
    before = resident()
    sleeping = [asyncio.create_task(asyncio.sleep(3600)) for _ in range(tasks)]
    await asyncio.sleep(0.5)
    used = (resident() - before) / tasks
    for task in sleeping:
        task.cancel()
    await asyncio.gather(*sleeping, return_exceptions=True)
    return [f"= bytes={used}"]


class Echo(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data)


class Hello(asyncio.Protocol):
    """The least that is HTTP: the headers' end, and whether the connection stays."""

    ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n"

    def connection_made(self, transport):
        self.transport, self.head = transport, b""

    def data_received(self, data):
        self.head += data
        while b"\r\n\r\n" in self.head:
            request, self.head = self.head.split(b"\r\n\r\n", 1)
            self.transport.write(self.ANSWER)
            if b"connection: close" in request.lower():
                self.transport.close()


class Serving:
    """An event loop on a thread of its own that serves until it is stopped."""

    def __init__(self, protocol, hogs=0, hog_s=0.0):
        self.loop = asyncio.new_event_loop()
        self.running = True
        listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = listener.getsockname()[1]
        self.server = self.loop.run_until_complete(self.loop.create_server(protocol, sock=listener, backlog=4096))
        self.hogs = [self.loop.create_task(hog(lambda: self.running, hog_s)) for _ in range(hogs)]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.running = False
        self.loop.call_soon_threadsafe(self.server.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


serving = None


def serve(protocol, *hogs):
    global serving
    serving = Serving(protocol, *hogs)
    return [f"= port={serving.port}"]


def stop():
    global serving
    if serving is not None:
        serving.stop()
        serving = None
    return ["= stopped=1"]


def answer(words):
    name, args = words[0], words[1:]
    match name:
        case "rate":
            return asyncio.run(rate(int(args[0]), int(args[1])))
        case "callbacks" | "timer_callbacks":
            return asyncio.run(callbacks(int(args[0]), name == "timer_callbacks"))
        case "timing":
            return asyncio.run(timing(int(args[0])))
        case "wake":
            return asyncio.run(wake(int(args[0])))
        case "sleepers":
            return asyncio.run(sleepers(int(args[0])))
        case "memory":
            return asyncio.run(memory(int(args[0])))
        case "echo" if len(args) == 2 or args[2] == "plain":
            return serve(Echo, int(args[0]), int(args[1]) / 1e6)
        case "http":
            return serve(Hello)
        case "stop":
            return stop()
    return ["? " + name]


def main():
    print(f".CPython {platform.python_version()} asyncio, default event loop, protocols for servers", flush=True)
    for line in sys.stdin:
        try:
            lines = answer(line.split())
        except Exception as failure:
            lines = [f"! {failure!r}"]
        print("\n".join([*lines, "."]), flush=True)


main()
