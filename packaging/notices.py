"""Prints the licences of all crates that the program is built of, each text once, as Markdown."""

import json
import pathlib
import subprocess

TEXTS = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "UNLICENSE*")


def crates():
    """Yields the crates that the program links, without those of the workspace."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-musl"]
    metadata = json.loads(subprocess.check_output(command))
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    root = next(package["id"] for package in metadata["packages"] if package["name"] == "askbridge")
    seen, open_ = set(), [root]
    while open_:
        here = open_.pop()
        if here in seen:
            continue
        seen.add(here)
        # A dependency of a build script or of tests is in no program.
        open_ += [dep["pkg"] for dep in nodes[here]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    found = [packages[id_] for id_ in seen if packages[id_]["source"]]
    return sorted(found, key=lambda crate: (crate["name"], crate["version"]))


def main():
    texts = {}
    print("# Third-party software\n\naskbridge is built of these crates. The texts of their licences follow.\n")
    for crate in crates():
        name = f"{crate['name']} {crate['version']}"
        print(f"- {name}: {crate['license'] or 'see its text'}")
        folder = pathlib.Path(crate["manifest_path"]).parent
        for pattern in TEXTS:
            for file in sorted(folder.glob(pattern)):
                if file.is_file():
                    texts.setdefault(file.read_text(errors="replace").strip(), []).append(name)
    for text, names in sorted(texts.items(), key=lambda item: item[1]):
        print(f"\n## {', '.join(dict.fromkeys(names))}\n\n```text\n{text}\n```")


main()
