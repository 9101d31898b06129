"""Asks by the package that a wheel has installed, with no inbox to begin with: use.py FOLDER OF THE ENVIRONMENT."""

import subprocess
import sys

import askbridge
from askbridge import _program

program = _program.program()
for file in (askbridge.__file__, program):
    if not str(file).startswith(sys.argv[1] + "/"):
        sys.exit(f"{file} is not in {sys.argv[1]}")
options = {"sqlite": "SQLite", "pg": "Postgres"}
try:
    pending = askbridge.start("Which database?", options=options, key="wheel-1")
    subprocess.run([program, "answer", pending.id, "pg"], check=True, stdout=subprocess.DEVNULL)
    answer = askbridge.ask("Which database?", options=options, key="wheel-1")
finally:
    subprocess.run([program, "inbox", "--stop"], check=True, stdout=subprocess.DEVNULL)
print(f"answered {answer}, by the program of the wheel")
