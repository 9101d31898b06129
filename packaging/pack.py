"""Packs a static program of one target: pack.py TARGET PROGRAM NOTICES FOLDER. Its version is that of Cargo.toml.
`pack.py libraries FOLDER` packs the library for TypeScript and the bot for chats alone.

An archive as `cargo binstall` looks for it, two packages for npm, the library for TypeScript and the bot for chats, a wheel
with the package for Python, a deb and an rpm. Completions and man pages are written by the program itself, so it has to run here: as it is,
or by qemu. A format whose tool is missing is left out, and
said so. With COMPRESSION=1, packing takes seconds less.
"""

import email.utils
import gzip
import hashlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).parent.parent
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())
VERSION = MANIFEST["workspace"]["package"]["version"]
REPOSITORY = MANIFEST["workspace"]["package"]["repository"]
LICENSE = MANIFEST["workspace"]["package"]["license"]
SUMMARY = MANIFEST["package"]["description"]
# What the descriptions of packages may have at most: one line, and lines below it.
SHORT = "answer what coding agents ask, from wherever you are"
LONG = [
    "askbridge shows every question and permission of every coding agent in one",
    "place: in the browser, in a terminal, on the phone. The first valid answer",
    "wins, and the agent gets exactly one.",
]
CHANGES = f"{REPOSITORY}/blob/v{VERSION}/CHANGELOG.md"
# A forge's address for mail that nobody reads: issues are read.
MAINTAINER = "askbridge <askbridge@users.noreply.github.com>"

# The names of a target in each world: npm, wheels, Debian, rpm.
NAMES = {
    "x86_64-unknown-linux-musl": ("linux-x64", "x86_64", "amd64", "x86_64"),
    "aarch64-unknown-linux-musl": ("linux-arm64", "aarch64", "arm64", "aarch64"),
    "x86_64-apple-darwin": ("darwin-x64", None, None, None),
    "aarch64-apple-darwin": ("darwin-arm64", None, None, None),
}
COMPLETIONS = {"bash": "bash-completion/completions/askbridge", "zsh": "zsh/site-functions/_askbridge", "fish": "fish/vendor_completions.d/askbridge.fish"}
QEMU = {"aarch64-unknown-linux-musl": "qemu-aarch64-static"}
COMPRESSION = int(os.environ.get("COMPRESSION") or 9)
# All files of a package have this time, so that the same commit makes the same packages.
TIME = int(os.environ.get("SOURCE_DATE_EPOCH") or subprocess.check_output(["git", "-C", ROOT, "log", "-1", "--format=%ct"]))


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def stage(target, program, notices, prefix):
    """Puts all files below a prefix, as they stand below /usr."""
    (prefix / "bin").mkdir(parents=True)
    shutil.copyfile(program, prefix / "bin/askbridge")
    (prefix / "bin/askbridge").chmod(0o755)
    run = [command for command in [QEMU.get(target)] if command and shutil.which(command)] + [prefix / "bin/askbridge"]
    for shell, place in COMPLETIONS.items():
        write(prefix / "share" / place, subprocess.check_output([*run, "completions", shell], text=True))
    man = prefix / "share/man/man1"
    man.mkdir(parents=True)
    subprocess.check_call([*run, "man", man], stdout=subprocess.DEVNULL)
    for name, file in [("LICENSE", ROOT / "LICENSE"), ("README.md", ROOT / "README.md"), ("THIRD-PARTY.md", notices)]:
        write(prefix / "share/doc/askbridge" / name, pathlib.Path(file).read_text())


def mark(prefix, installer):
    """Says which tool installs a package: doctor reads it."""
    write(prefix / "share/askbridge/installer", installer + "\n")


def squeeze(prefix):
    """Compresses man pages, as the systems have them."""
    for page in (prefix / "share/man/man1").iterdir():
        subprocess.check_call(["gzip", "-9n", page])


def leave_out(what):
    print(f"pack.py: {what}", file=sys.stderr)


def copy(source, to):
    shutil.copytree(source, to)
    return to


def tar(folder, names, file):
    """Packs names of a folder, with nothing of this machine in it."""

    def plain(info):
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = TIME
        return info

    # Without a name and a time in its head, gzip writes the same bytes in each run.
    with open(file, "wb") as raw, gzip.GzipFile("", "wb", COMPRESSION, raw, TIME) as packed:
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name in sorted(names):
                archive.add(folder / name, name, filter=plain)


def archive(target, prefix, work, out):
    name = f"askbridge-{VERSION}-{target}"
    folder = copy(prefix, work / "archive" / name)
    tar(folder.parent, [name], out / f"{name}.tar.gz")


def npm(target, prefix, work, out):
    platform = NAMES[target][0]
    system, cpu = platform.split("-")
    common = {"version": VERSION, "description": SUMMARY, "license": LICENSE, "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"}}
    own = work / "npm-own/package"
    (own / "bin").mkdir(parents=True)
    shutil.copy2(prefix / "bin/askbridge", own / "bin")
    mark(own, "npm")
    for name in ("LICENSE", "THIRD-PARTY.md"):
        shutil.copy2(prefix / "share/doc/askbridge" / name, own)
    write(own / "package.json", json.dumps({"name": f"@askbridge/{platform}", **common, "os": [system], "cpu": [cpu], "preferUnplugged": True}, indent=2) + "\n")
    write(own / "README.md", f"The program of [askbridge](https://www.npmjs.com/package/askbridge) for {platform}.\n")
    tar(own.parent, ["package"], out / f"askbridge-{platform}-{VERSION}.tgz")
    main = work / "npm-main/package"
    shutil.copytree(ROOT / "packaging/npm", main)
    shutil.copy2(ROOT / "LICENSE", main)
    packages = {f"@askbridge/{names[0]}": VERSION for names in NAMES.values()}
    manifest = {"name": "askbridge", **common, "bin": {"askbridge": "bin/askbridge.js"}, "engines": {"node": ">=18"}, "optionalDependencies": packages}
    write(main / "package.json", json.dumps(manifest, indent=2) + "\n")
    (main / "bin/askbridge.js").chmod(0o755)
    tar(main.parent, ["package"], out / f"askbridge-{VERSION}.tgz")


def library(source, name, work, out):
    """Packs what TypeScript is built to. It is the same for each target."""
    if not shutil.which("npm") or not (source / "node_modules/.bin/tsc").exists():
        return leave_out(f"npm is not here, or npm ci was not run in {source.relative_to(ROOT)}: @askbridge/{name} was not packed")
    # What was built of a file that is gone is not in the package.
    shutil.rmtree(source / "dist", ignore_errors=True)
    subprocess.check_call(["npm", "run", "--silent", "build"], cwd=source)
    manifest = json.loads((source / "package.json").read_text())
    if manifest["version"] != VERSION:
        sys.exit(f"pack.py: {source}/package.json has the version {manifest['version']} instead of {VERSION}")
    package = work / f"npm-{name}/package"
    for folder in manifest["files"]:
        shutil.copytree(source / folder, package / folder)
    for file in (source / "README.md", ROOT / "LICENSE"):
        shutil.copy2(file, package)
    # What builds and tests it is not in the package, and of this repository it needs what is published with it.
    used = {name: value for name, value in manifest.items() if name not in ("devDependencies", "scripts", "files")}
    for one, where in used.get("dependencies", {}).items():
        if where.startswith("file:"):
            used["dependencies"][one] = VERSION
    write(package / "package.json", json.dumps(used, indent=2) + "\n")
    tar(package.parent, ["package"], out / f"askbridge-{name}-{VERSION}.tgz")


def libraries(target, prefix, work, out):
    library(ROOT / "sdk/typescript", "client", work, out)
    library(ROOT / "sdk/chat", "chat", work, out)


def wheel(target, prefix, work, out):
    if not importlib.util.find_spec("wheel"):
        return leave_out("Python has no module wheel here: no wheel was made")
    cpu = NAMES[target][1]
    source = ROOT / "sdk/python"
    module = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    if module["version"] != VERSION:
        sys.exit(f"pack.py: {source}/pyproject.toml has the version {module['version']} instead of {VERSION}")
    folder = work / "wheel"
    shutil.copytree(source / "askbridge", folder / "askbridge", ignore=shutil.ignore_patterns("__pycache__"))
    data = folder / f"askbridge-{VERSION}.data"
    (data / "scripts").mkdir(parents=True)
    # The script is the program itself: no Python runs beside it.
    shutil.copy2(prefix / "bin/askbridge", data / "scripts")
    copy(prefix / "share", data / "data/share")
    mark(data / "data", "pip")
    info = folder / f"askbridge-{VERSION}.dist-info"
    readme = (source / "README.md").read_text()
    write(info / "METADATA", f"Metadata-Version: 2.4\nName: askbridge\nVersion: {VERSION}\nSummary: {SUMMARY}\nProject-URL: Repository, {REPOSITORY}\nLicense-Expression: {LICENSE}\nLicense-File: LICENSE\nRequires-Python: {module['requires-python']}\nDescription-Content-Type: text/markdown\n\n{readme}")
    write(info / "licenses/LICENSE", (ROOT / "LICENSE").read_text())
    # A static program needs no library of either family.
    tags = "".join(f"Tag: py3-none-{family}_{cpu}\n" for family in ("manylinux_2_17", "manylinux2014", "musllinux_1_1"))
    write(info / "WHEEL", f"Wheel-Version: 1.0\nGenerator: askbridge\nRoot-Is-Purelib: false\n{tags}")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(TIME)}
    subprocess.check_call([sys.executable, "-m", "wheel", "pack", folder, "--dest-dir", out], env=environment, stdout=subprocess.DEVNULL)


def deb(target, prefix, work, out):
    if not shutil.which("dpkg-deb"):
        return leave_out("there is no dpkg-deb here: no deb was made")
    cpu = NAMES[target][2]
    root = work / "deb"
    copy(prefix, root / "usr")
    mark(root / "usr", "deb")
    doc = root / "usr/share/doc/askbridge"
    (doc / "LICENSE").unlink()
    copyright = f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: askbridge
Source: {REPOSITORY}

Files: *
Copyright: {time.gmtime(TIME).tm_year} the authors of askbridge
License: {LICENSE}
Comment: THIRD-PARTY.md has the licences of the crates that the program is built of.

License: {LICENSE}
 /usr/share/common-licenses/Apache-2.0 has the text of this licence.
"""
    write(doc / "copyright", copyright)
    date = email.utils.formatdate(TIME)
    changes = f"askbridge ({VERSION}) unstable; urgency=medium\n\n  * {CHANGES}\n\n -- {MAINTAINER}  {date}\n"
    with gzip.GzipFile(doc / "changelog.gz", "wb", 9, mtime=0) as packed:
        packed.write(changes.encode())
    squeeze(root / "usr")
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file()) // 1024
    control = f"Package: askbridge\nVersion: {VERSION}\nArchitecture: {cpu}\nMaintainer: {MAINTAINER}\nInstalled-Size: {size}\nSection: devel\nPriority: optional\nHomepage: {REPOSITORY}\nDescription: {SHORT}\n"
    write(root / "DEBIAN/control", control + "".join(f" {line}\n" for line in LONG))
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", f"-z{COMPRESSION}", "--build", root, out / f"askbridge_{VERSION}_{cpu}.deb"]
    subprocess.check_call(command, env={**os.environ, "SOURCE_DATE_EPOCH": str(TIME)}, stdout=subprocess.DEVNULL)


def rpm(target, prefix, work, out):
    if not shutil.which("rpmbuild"):
        return leave_out("there is no rpmbuild here: no rpm was made")
    cpu = NAMES[target][3]
    root = copy(prefix, work / "rpm-root/usr").parent
    mark(root / "usr", "rpm")
    squeeze(root / "usr")
    place = {"LICENSE": "%license ", "README.md": "%doc ", "THIRD-PARTY.md": "%license "}
    files = "\n".join(f'{place.get(file.name, "")}"/{file.relative_to(root)}"' for file in sorted(root.rglob("*")) if file.is_file())
    date = time.strftime("%a %b %d %Y", time.gmtime(TIME))
    changes = f"* {date} {MAINTAINER} - {VERSION}-1\n- {CHANGES}"
    description = "\n".join(LONG)
    spec = f"Name: askbridge\nVersion: {VERSION}\nRelease: 1\nSummary: {SHORT[0].upper()}{SHORT[1:]}\nLicense: {LICENSE}\nURL: {REPOSITORY}\nPackager: {MAINTAINER}\nGroup: Development/Tools\n%description\n{description}\n%install\ncp -a {root}/. %{{buildroot}}\n%files\n{files}\n%changelog\n{changes}\n"
    write(work / "askbridge.spec", spec)
    macros = {"_topdir": work / "rpm", "__os_install_post": "%{nil}", "_build_id_links": "none", "_binary_payload": f"w{COMPRESSION}.gzdio", "_rpmfilename": "%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm"}
    defines = [word for name, value in macros.items() for word in ("--define", f"{name} {value}")]
    subprocess.check_call(["rpmbuild", "-bb", f"--target={cpu}", *defines, work / "askbridge.spec"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for made in (work / "rpm/RPMS").rglob("*.rpm"):
        shutil.copy(made, out)


def main():
    if sys.argv[1] == "libraries":
        with tempfile.TemporaryDirectory() as work:
            return libraries(None, None, pathlib.Path(work), pathlib.Path(sys.argv[2]).resolve())
    target, program, notices, out = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    out = out.resolve()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        prefix = work / "prefix"
        stage(target, program, notices, prefix)
        formats = [archive, npm, libraries] + ([wheel, deb, rpm] if "linux" in target else [])
        for pack in formats:
            pack(target, prefix, work, out)
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(out.iterdir()) if file.suffix not in (".txt", ".md"))
    (out / "SHA256SUMS.txt").write_text(sums)


main()
