"""Prints the Homebrew formula of a release: formula.py FOLDER, which has the archives of all four targets."""

import hashlib
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).parent.parent
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
TARGETS = ("aarch64-apple-darwin", "x86_64-apple-darwin", "aarch64-unknown-linux-musl", "x86_64-unknown-linux-musl")


def main():
    folder = pathlib.Path(sys.argv[1])
    formula = (ROOT / "packaging/homebrew/askbridge.rb").read_text().split("\n", 1)[1].replace("VERSION", VERSION)
    for target in TARGETS:
        archive = folder / f"askbridge-{VERSION}-{target}.tar.gz"
        formula = formula.replace(f"SHA256-{target}", hashlib.sha256(archive.read_bytes()).hexdigest())
    print(formula, end="")


main()
