"""The trial of a client: askbridge's mock agent asks it, directly and through askbridge, and a command answers."""

import contextlib
import json
import shlex
import subprocess
import sys
import time

from agents import GRACE, neutral
from lines import Side, difference, message
from peers import FAR
from world import START, Failed, until

# What the mock agent asks: the dialect that it speaks, and the prompt that makes it ask.
ASKS = {"permission": ("gemini", "permission"), "native": ("sandboxagent", "question"), "form": ("claude", "question")}
# How long a client and its agent may say nothing, in seconds.
QUIET = 12
# How long a client may take to answer by itself.
ALONE = 4


class Trial:
    def __init__(self, world):
        self.world, self.said = world, world.peer.said
        self.sizes, self.since = [], time.monotonic()
        self.tap = [sys.executable, "-S", "-E", FAR / "lib/tap.py"]

    def run(self):
        seen = {"direct": {}, "through": {}, "elsewhere": {}}
        for ask in ASKS:
            seen["direct"][ask] = self.turn(ask, "direct")
        seen["through"]["permission"] = self.turn("permission", "through")
        for ask in ASKS:
            seen["elsewhere"][ask] = self.turn(ask, "elsewhere")
        asks = [ask for ask in ("permission", "native") if seen["elsewhere"][ask].get("shows")]
        seen["late"] = {ask: self.late(ask) for ask in asks}
        return seen

    def words(self, ask, way):
        """Returns the client's command."""
        taps, dialect = self.world.root / "taps", ASKS[ask][0]
        mock = [self.world.askbridge, "mock-agent", "--dialect", dialect]
        agent = [*self.tap, taps / "client", *mock]
        if way != "direct":
            bridge = [self.world.askbridge, "run", "--grace", f"{GRACE}s", "--"]
            agent = [*self.tap, taps / "client", *bridge, *self.tap, taps / "agent", *mock]
        agent = [str(word) for word in agent]
        names = {"{agent_line}": shlex.join(agent), "{prompt}": ASKS[ask][1]}
        words = []
        for word in self.said["command"]:
            words += agent if word == "{agent}" else [names.get(word, word)]
        return words

    def turn(self, ask, way):
        """Lets the client prompt the agent once so that it asks, and once so that it does not."""
        world = self.world
        for path in (world.root / "taps").iterdir():
            path.unlink()
        answers = "wait" if way == "elsewhere" else "allow"
        prompts = [ASKS[ask][1], "Say hello."][: self.said.get("turns", 2)]
        (world.root / "answered").unlink(missing_ok=True)
        names = {"FAR_ANSWER": answers, "FAR_PROMPTS": json.dumps(prompts), "FAR_ANSWERED": str(world.root / "answered")}
        world.environment |= names
        out = (world.root / "out").open("w+")
        process = world.start(self.words(ask, way), stdin=subprocess.PIPE, stdout=out)
        try:
            seen = self.answered(ask, process) if way == "elsewhere" else {}
            return seen | self.over(process, way)
        finally:
            self.ends(process)
            out.close()

    def late(self, ask):
        """Returns what becomes of a dialog whose question is answered elsewhere, and of its person's answer after that."""
        world = self.world
        for path in (world.root / "taps").iterdir():
            path.unlink()
        late, out = world.root / "late", (world.root / "out").open("w+")
        late.unlink(missing_ok=True)
        prompts = json.dumps([ASKS[ask][1]] * 2)
        world.environment |= {"FAR_ANSWER": "wait", "FAR_PROMPTS": prompts, "FAR_LATE": str(late)}
        process = world.start(self.words(ask, "elsewhere"), stdin=subprocess.PIPE, stdout=out)
        try:
            return self.too_late(ask, late)
        except Failed as failed:
            return {"failed": neutral(world, failed)}
        finally:
            self.ends(process)
            out.close()

    def too_late(self, ask, late):
        first = until("a question in the list", self.world.questions, START)[0]
        until("its dialog", lambda: self.events("asked"))
        self.decide(ask, first)
        def other():
            return next((found for found in self.world.questions() if found["id"] != first["id"]), None)
        seen, second = {}, None
        with contextlib.suppress(Failed):
            second = until("the question of the next turn", other, 2 * ALONE)
        if second:
            with contextlib.suppress(Failed):
                until("its dialog", lambda: len(self.events("asked")) > 1, ALONE)
        seen["next"] = "shown" if len(self.events("asked")) > 1 else "not shown" if second else "not asked"
        if not self.events("withdrawn"):
            late.touch()
            with contextlib.suppress(Failed):
                until("the late answer", self.said_late, ALONE)
        seen["dialog"] = "gone" if self.events("withdrawn") else "stays"
        seen["late answer"] = "sent" if self.said_late() else "not sent"
        seen["agent"] = neutral(self.world, self.heard())
        if second or (second := other()):
            seen["second"] = "open" if any(found["id"] == second["id"] for found in self.world.questions()) else "over"
            self.decide(ask, second)
        return seen

    def decide(self, ask, question):
        words = ["reject", question["id"]] if ask == "permission" else ["answer", question["id"], "2"]
        code, _, errors = self.world.ask(*words)
        if code:
            raise Failed(f"exit code {code}: {errors}")

    def said_late(self):
        """Whether the client answers its first request by a choice, although the question is answered."""
        answers = self.side("client").responses()
        return bool(answers and answers[0] and "selected" in json.dumps(answers[0].get("result")))

    def answered(self, ask, process):
        """Waits for the question, and answers it by a command unless the client does."""
        def listed():
            return self.world.questions() or (process.poll() is not None or self.heard() is not None) and [None]
        try:
            found = until("a question in the list", listed, START)[0]
        except Failed:
            return {"seen": "no"}
        if found:
            found = self.settled(found)
        if not found:
            return {"seen": "no"} | ({"answers": "by itself"} if self.heard() else {})
        shown = "elsewhere" if found.get("elsewhere") else "client"
        words = ["allow", found["id"], "--yes"] if ask == "permission" else ["answer", found["id"], "2"]
        code, _, errors = self.world.ask(*words)
        (self.world.root / "answered").touch()
        return {"seen": shown} | ({} if code == 0 else {"answer": f"exit code {code}: {neutral(self.world, errors)}"})

    def settled(self, found):
        """Returns the question once the client shows it or has answered its prompt, or None once the client answered it."""
        def current():
            return next((other for other in self.world.questions() if other["id"] == found["id"]), None)

        def look():
            now = current()
            return not now or now.get("elsewhere") or self.events("asked")
        # A client that shows nothing to its driver says nothing.
        with contextlib.suppress(Failed):
            until("the client's answer", look, ALONE)
        return current()

    def events(self, kind):
        """Returns what the driver told of this kind."""
        found = []
        for line in (self.world.root / "out").read_text(errors="replace").splitlines():
            said = message(line)
            found += [said] if kind in said else []
        return found

    def over(self, process, way):
        """Waits for the end of the client, and returns what was seen of it."""
        with contextlib.suppress(Failed):
            until("the end of the client", lambda: process.poll() is not None or self.is_quiet(), START)
        asked = self.events("asked")
        seen = {"heard": neutral(self.world, self.heard() or "nothing"), "turns": self.turns()}
        if asked:
            names = [neutral(self.world, name) for name in asked[0]["options"]]
            seen["shows"] = {"title": neutral(self.world, asked[0]["asked"]), "options": names}
        seen["exit"] = process.poll()
        if way != "direct":
            seen["bytes"] = self.bytes()
        return seen

    def is_quiet(self):
        """Whether nothing was said since a while, after the agent has begun: some clients never answer, or never end."""
        files = [*(self.world.root / "taps").iterdir(), self.world.root / "out"]
        sizes = [path.stat().st_size for path in files]
        if sizes != self.sizes or not self.agent().from_agent:
            self.sizes, self.since = sizes, time.monotonic()
        return time.monotonic() - self.since > QUIET

    def ends(self, process):
        if process.poll() is None:
            with contextlib.suppress(OSError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
        self.world.left()

    def side(self, name):
        taps = self.world.root / "taps"
        read = [(taps / f"{name}.{way}") for way in ("in", "out")]
        return Side(*(path.read_bytes() if path.exists() else b"" for path in read), {"_sandboxagent/session/request_question"})

    def agent(self):
        """Returns the agent's side."""
        return self.side("agent" if (self.world.root / "taps/agent.in").exists() else "client")

    def heard(self):
        """Returns what the agent got for its question, or None."""
        responses = [found for found in self.agent().responses() if found]
        if not responses:
            return None
        said = responses[0]
        return json.dumps(said["result"]) if "result" in said else f"error {said['error'].get('code')}"

    def turns(self):
        """Returns how many turns ended."""
        said = [message(line) for line in self.agent().from_agent]
        return sum("stopReason" in (found.get("result") or {}) for found in said if isinstance(found.get("result"), dict))

    def bytes(self):
        return neutral(self.world, difference(self.side("client"), self.side("agent")), 400)
