"""Runs a command, and adds all bytes that it reads and writes to FILE.in and FILE.out: a client may start its agent again.

    tap.py FILE COMMAND...
"""

import os
import signal
import subprocess
import sys
import threading

file, *words = sys.argv[1:]
process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, _: process.send_signal(number))


def copy(source, sink, name):
    """Copies until the source ends."""
    with open(name, "ab", buffering=0) as kept:
        while data := os.read(source, 65536):
            kept.write(data)
            while data:
                data = data[os.write(sink, data):]


def copy_input():
    try:
        copy(0, process.stdin.fileno(), f"{file}.in")
    except BrokenPipeError:
        pass
    process.stdin.close()


threading.Thread(target=copy_input, daemon=True).start()
try:
    copy(process.stdout.fileno(), 1, f"{file}.out")
except BrokenPipeError:
    process.stdout.close()
code = process.wait()
os._exit(128 - code if code < 0 else code)
