"""A model that is a server on this machine, and answers every request in one way, well or badly."""

import http.server
import json
import threading
from collections.abc import Callable
from typing import Any

from lab.model import Endpoint

Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


def reply(content: Any, **more: Any) -> bytes:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    return json.dumps({"choices": [{"message": message, **more}]}).encode()


class Model:
    """A server on this machine that answers every request in one way, and keeps them."""

    def __init__(self, answer: Answer) -> None:
        requests: list[tuple[dict[str, str], Any]] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                requests.append((dict(self.headers), json.loads(body)))
                answer(self)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.requests = requests
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def endpoint(self, key: str = "", timeout_seconds: float = 10.0) -> Endpoint:
        port = self._server.server_address[1]
        return Endpoint(f"http://127.0.0.1:{port}/v1", "test", key, timeout_seconds)

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def sends(data: bytes, status: int = 200, length: int | None = None, **headers: str) -> Answer:
    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(data) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


Serve = Callable[[Answer], Model]
