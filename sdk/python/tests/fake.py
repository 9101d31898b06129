"""A server that does what a test says, in the place of an inbox."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Union

import askbridge


class Request(NamedTuple):
    method: str
    path: str
    headers: Dict[str, str]
    body: Any


class Say(NamedTuple):
    """A response."""

    status: int = 200
    body: Any = None
    headers: Dict[str, str] = {}


#: Ends the connection without a response, or within one.
CUT, HALF, SHORT = "cut", "half", "short"
Answer = Union[Say, str]


def problem(status: int, name: str, **more: Any) -> Say:
    headers = {"Retry-After": "0"} if status == 503 else {}
    return Say(status, {"title": name, "status": status, "name": name, **more}, headers)


class Fake:
    """Responds by a list, one after the other, or by a function."""

    def __init__(self, answers: Union[List[Answer], Callable[[Request], Answer]]) -> None:
        self.requests: List[Request] = []
        fake, lock = self, threading.Lock()

        def next_answer(request: Request) -> Answer:
            with lock:
                fake.requests.append(request)
            # It may take long.
            if callable(answers):
                return answers(request)
            with lock:
                return answers.pop(0) if answers else problem(500, "no_more_answers")

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def respond(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                text = self.rfile.read(length)
                body = json.loads(text) if text else None
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = next_answer(Request(self.command, self.path, headers, body))
                self.close_connection = True
                if isinstance(answer, str):
                    if answer == HALF:
                        self.wfile.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n')
                    if answer == SHORT:
                        self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}')
                    self.wfile.flush()
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                said = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, value in {**answer.headers, "Connection": "close"}.items():
                    self.send_header(name, value)
                if answer.status != 204:
                    self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            do_GET = do_POST = do_DELETE = respond

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: Any) -> None:
                # The client has gone.
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    def __enter__(self) -> "Fake":
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()

    def inbox(self, token: str = "T" * 64, **options: Any) -> askbridge.Inbox:
        return askbridge.Inbox(f"http://127.0.0.1:{self._server.server_address[1]}", token=token, **options)


def settled(outcome: Any, **more: Any) -> Dict[str, Any]:
    return {"outcome": outcome, "by": {"responder": "page"}, "at": "2026-01-01T00:00:00Z", **more}


def record(id: str = "q-1", settlement: Optional[Any] = None, **question: Any) -> Dict[str, Any]:
    fields = [{"name": "q0", "label": "?", "kind": "text"}]
    made = {"id": id, "bridge": "q", "question": {"fields": fields, **question}, "openedAt": "2026-01-01T00:00:00Z"}
    return {**made, **({"settlement": settlement} if settlement else {"state": "open"})}
