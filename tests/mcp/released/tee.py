"""Passes lines on between the bridge and a server, and keeps each in a file: `tee.py FILE COMMAND...`."""

import json
import subprocess
import sys
import threading


def main() -> None:
    file, *command = sys.argv[1:]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None
    lock = threading.Lock()
    with open(file, "a") as kept:

        def keep(who: str, line: bytes) -> None:
            with lock:
                kept.write(json.dumps({"from": who, "line": line.decode().rstrip("\n")}, ensure_ascii=False) + "\n")
                kept.flush()

        def host() -> None:
            for line in iter(sys.stdin.buffer.readline, b""):
                keep("host", line)
                server.stdin.write(line)
                server.stdin.flush()
            server.stdin.close()

        threading.Thread(target=host, daemon=True).start()
        for line in iter(server.stdout.readline, b""):
            keep("server", line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        sys.exit(server.wait())


if __name__ == "__main__":
    main()
