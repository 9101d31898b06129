"""The figures of tests/standing/figures: two servers under the same load, and then one with many questions."""

import atexit
import http.client
import json
import multiprocessing
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

PROGRAM, FOLDER = sys.argv[1:]
PATIENCE = 60
SECONDS = 5
STANDING, WAITING = 10_000, 1_000
FIELDS = [{"name": "go", "label": "Deploy?", "kind": "boolean", "required": True}]


class Connection:
    """A connection with the token of a server, which is opened again where the server closes it."""

    def __init__(self, port, token):
        self.port, self.headers = port, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5 * PATIENCE)

    def call(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, text, self.headers)
        response = self.connection.getresponse()
        said = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path} is {response.status}: {said[:200]!r}")
        return json.loads(said) if said.strip() else None


class Askbridge:
    name = "askbridge"

    def __init__(self, home):
        self.home = home
        os.makedirs(home, mode=0o700)
        self.env = {"PATH": os.environ["PATH"], "HOME": home, "XDG_RUNTIME_DIR": home}
        self.start()

    def start(self):
        command = [PROGRAM, "inbox", "--addr", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, env=self.env, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        for line in self.process.stderr:
            if at := re.search(r"listening on http://[^,]*:(\d+),", line):
                self.port = int(at[1])
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        with open(f"{self.home}/askbridge/token") as file:
            self.token = file.read().strip()

    @staticmethod
    def trip(connection, key):
        connection.headers["Idempotency-Key"] = key
        record = connection.call("POST", "/v1/questions", {"wait": False, "message": "Deploy?", "fields": FIELDS})
        path = f"/v1/questions/{record['id']}"
        connection.call("POST", f"{path}/reply", {"values": {"go": True}})
        outcome = connection.call("GET", f"{path}?wait=30s")["settlement"]["outcome"]
        assert outcome["values"] == {"go": True}, outcome


class Awaithumans:
    name = "awaithumans 0.1.12"

    def __init__(self, home):
        os.makedirs(home)
        env = {**os.environ, "HOME": home}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        tool = os.path.join(os.path.dirname(sys.executable), "awaithumans")
        command = [tool, "dev", "--host", "127.0.0.1", "--port", str(self.port), "--log-level", "ERROR"]
        self.process = subprocess.Popen(command, env=env, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)
        about, until = f"{home}/.awaithumans-dev.json", time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                with open(about) as file:
                    known = json.load(file)
                self.token = next(value for name, value in known.items() if "token" in name)
                Connection(self.port, self.token).call("GET", "/api/tasks")
                return
            except (OSError, StopIteration, ValueError):
                time.sleep(0.1)
        raise RuntimeError("awaithumans did not start")

    @staticmethod
    def trip(connection, key):
        schema = {"type": "object", "properties": {"go": {"type": "boolean"}}}
        body = {
            "task": "Deploy?", "payload": {}, "payload_schema": {"type": "object"}, "response_schema": schema,
            "timeout_seconds": 600, "idempotency_key": key,
        }
        path = f"/api/tasks/{connection.call('POST', '/api/tasks', body)['id']}"
        connection.call("POST", f"{path}/complete", {"response": {"go": True}})
        assert connection.call("GET", path)["response"] == {"go": True}


def client(kind, port, token, name, told):
    connection, times, until = Connection(port, token), [], time.monotonic() + SECONDS
    try:
        while time.monotonic() < until:
            begun = time.monotonic()
            kind.trip(connection, f"{name}-{len(times)}")
            times.append(time.monotonic() - begun)
        told.put((times, None))
    except Exception as error:  # noqa: BLE001 # It is counted.
        told.put((times, str(error)))


def memory(process, name="RssAnon"):
    with open(f"/proc/{process.pid}/status") as file:
        kib = re.search(rf"{name}:\s+(\d+) kB", file.read())
    return int(kib[1]) / 1024


def load(server, clients):
    """Round trips per second of so many clients, and how many of these failed."""
    told = multiprocessing.Queue()
    several = [
        multiprocessing.Process(target=client, args=(type(server), server.port, server.token, f"{clients}-{at}", told))
        for at in range(clients)
    ]
    for one in several:
        one.start()
    heard = [told.get(timeout=SECONDS + PATIENCE) for _ in several]
    for one in several:
        one.join()
    times = sorted(time for times, _ in heard for time in times)
    failed = [error for _, error in heard if error]
    p50 = statistics.median(times) * 1000 if times else float("nan")
    said = f"; {len(failed)} clients failed: {failed[0][:90]}" if failed else ""
    rate = len(times) / SECONDS
    print(f"{server.name}, {clients} clients: {rate:.0f} round trips/s, median {p50:.1f} ms{said}", flush=True)
    return rate


def stand(server):
    """Keeps many questions, lets some programs wait, and kills the inbox."""
    made = []

    def make(at):
        connection = Connection(server.port, server.token)
        for number in range(STANDING // 16):
            body = {"wait": False, "message": f"Deploy {at} {number}?", "fields": FIELDS}
            made.append(connection.call("POST", "/v1/questions", body)["id"])

    begun = time.monotonic()
    several = [threading.Thread(target=make, args=(at,)) for at in range(16)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    print(f"{len(made)} questions kept in {time.monotonic() - begun:.1f} s; {memory(server.process):.1f} MiB without files")
    answered, delays = {}, []

    def wait(id):
        while True:
            try:
                Connection(server.port, server.token).call("GET", f"/v1/questions/{id}?wait=300s")
                return delays.append(time.monotonic() - answered[id])
            except (OSError, http.client.HTTPException):
                # Of many connections that have not shown the token yet, the oldest are closed.
                pass

    waiting = [threading.Thread(target=wait, args=(id,)) for id in made[:WAITING]]
    for one in waiting:
        one.start()
    # Each connection has to be waiting before the first answer.
    until = time.monotonic() + PATIENCE
    while len(os.listdir(f"/proc/{server.process.pid}/fd")) < WAITING:
        assert time.monotonic() < until, "not all of them wait"
        time.sleep(0.05)
    print(f"{WAITING} programs wait; {memory(server.process):.1f} MiB without files")
    person = Connection(server.port, server.token)
    for id in made[:WAITING]:
        answered[id] = time.monotonic()
        person.call("POST", f"/v1/questions/{id}/reply", {"values": {"go": True}})
    for one in waiting:
        one.join()
    delays.sort()
    at = lambda part: delays[int(len(delays) * part)] * 1000
    print(f"an outcome reaches its waiter after {at(0.5):.1f} ms in the median, {at(0.99):.1f} ms at the 99th percentile")
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    begun = time.monotonic()
    server.start()
    connection, count = Connection(server.port, server.token), 0
    while count < STANDING // 16 * 16 - WAITING:
        count = len(connection.call("GET", "/v1/questions")["questions"])
    print(f"from kill -9 to {count} open again: {time.monotonic() - begun:.2f} s; {memory(server.process):.1f} MiB without files")
    server.process.kill()


ours, theirs = Askbridge(f"{FOLDER}/ours"), Awaithumans(f"{FOLDER}/theirs")
rates = {}
for clients in (1, 8, 64):
    for server in (ours, theirs):
        rates[server.name, clients] = load(server, clients)
best = max(rate for (name, _), rate in rates.items() if name == theirs.name)
print(f"one client: {rates[ours.name, 1] / rates[theirs.name, 1]:.1f} times (goal 5)")
print(f"64 clients: {rates[ours.name, 64] / best:.1f} times its best (goal 20)")
of_ours, of_theirs = memory(ours.process, "VmRSS"), memory(theirs.process, "VmRSS")
print(f"memory after that: {of_ours:.1f} MiB of {of_theirs:.1f}, {of_ours / of_theirs:.2f} (goal 0.1)")
theirs.process.kill()
ours.process.kill()
stand(Askbridge(f"{FOLDER}/many"))
