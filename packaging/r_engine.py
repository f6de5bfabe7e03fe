"""Engine in the source package of R: `r_engine.py DIRECTORY` writes the crates that the package needs, with all crates
of others that these need, so that it builds without a network.

The manifests lose what only tests need; crates for other systems than Unix keep their manifests, but not their
sources, because Cargo wants to see them but never compiles them here.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Crates for Windows and for browsers, which the package does not support.
FOREIGN = re.compile(r"^(windows|winapi|wasm|js-sys|web-sys|wasi|wit-|r-efi|hermit|redox|libredox|android|jni|ntapi)")
#: Sections of manifests that only tests and Rust's users need.
UNUSED = re.compile(r"^(\[dev-dependencies|\[target\..*dev-dependencies|\[\[(test|bench|example)\]\])")
#: Folders of crates of others that no build needs.
UNBUILT = ("tests", "benches", "fuzz", "ci", ".github", "test-data", "testdata", "test_data")


def compiled() -> dict[str, bool]:
    """Return the names of the crates that the R module is compiled from, and whether they are of this repository."""
    tree = ["cargo", "tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"]
    tree += ["--target", "all", "--package", "outcore-r"]
    done = subprocess.run(tree, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line.split()[0]: str(ROOT) in line for line in done.stdout.splitlines()}


def without_unused(manifest: str, used: set[str]) -> str:
    """Return a manifest without what only tests need, and without optional crates other than those that are used."""
    sections = re.split(r"(?m)^(?=\[)", manifest)
    manifest = "".join(section for section in sections if not UNUSED.match(section))
    optional = re.findall(r"(?m)^([\w-]+) = \{.*optional = true.*\}$", manifest)
    for name in set(optional) - used:
        manifest = re.sub(rf"(?m)^{name} = \{{.*\n", "", manifest)
        manifest = re.sub(rf'"(dep:)?{name}(\?/|/)?[\w-]*"(, )?', "", manifest)
    return manifest


def workspace(crates: list[str]) -> str:
    """Return the manifest of the workspace with these members, and only its release profile."""
    text = (ROOT / "Cargo.toml").read_text()
    text = re.sub(r"(?m)^members = .*$", "members = " + json.dumps([f"crates/{crate}" for crate in crates]), text)
    kept = []
    for section in re.split(r"(?m)^(?=\[)", text):
        lines = [line for line in section.splitlines(keepends=True) if is_kept(line, crates)]
        if not section.startswith(("[profile.dist", "[profile.dev", "[profile.test", "[workspace.lints")):
            kept.append("".join(lines))
    # Lints are for developers.
    return "".join(kept) + "\n[workspace.lints]\n"


def is_kept(line: str, crates: list[str]) -> bool:
    """Return whether a line of the workspace concerns these crates."""
    found = re.match(r"(outcore[a-z-]*) = \{ path", line)
    return found is None or found[1] in crates


def copy_crate(crate: str, used: set[str], to: Path) -> None:
    """Copy the sources of a crate of this repository, without its tests."""
    done = subprocess.run(["git", "ls-files", "-z", f"crates/{crate}"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, done.stdout.decode().split("\0")):
        inside = Path(name).relative_to(f"crates/{crate}")
        if inside.parts[0] in ("tests", "proptest-regressions", "benches"):
            continue
        path = to / "crates" / crate / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, path)
    manifest = to / "crates" / crate / "Cargo.toml"
    text = without_unused(manifest.read_text(), used)
    if crate == "outcore-r":
        # They need crates that have been left out.
        text = re.sub(r"(?m)^(tests|tables|remote) = .*\n", "", text)
    manifest.write_text(text)


def reduce(crate: Path) -> None:
    """Remove what no build of this package needs from a crate of others, and correct the list of its files."""
    if FOREIGN.match(crate.name):
        for path in crate.iterdir():
            if path.name not in ("Cargo.toml", ".cargo-checksum.json"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (crate / "src").mkdir()
        (crate / "src/lib.rs").write_text("")
        # A build script is named by the manifest.
        (crate / "build.rs").write_text("fn main() {}\n")
    for name in UNBUILT:
        shutil.rmtree(crate / name, ignore_errors=True)
    # R would take these for its own.
    for pattern in ("**/[Mm]akefile*", "CITATION*"):
        for path in crate.glob(pattern):
            path.unlink()
    checksums = crate / ".cargo-checksum.json"
    listed = json.loads(checksums.read_text())
    files = sorted(path for path in crate.rglob("*") if path.is_file() and path != checksums)
    digests = {str(path.relative_to(crate)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    checksums.write_text(json.dumps({**listed, "files": digests}))


def pack(vendor: Path, archive: Path) -> None:
    """Pack a folder into an archive that depends only on its content."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime = entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755 if entry.isdir() else 0o644
        return entry

    with tarfile.open(archive, "w:xz", preset=9) as tar:
        tar.add(vendor, arcname="vendor", filter=plain)


def main(to: Path) -> None:
    """Write the engine to a folder."""
    found = compiled()
    crates = sorted(crate for crate, is_own in found.items() if is_own)
    for crate in crates:
        copy_crate(crate, set(found), to)
    (to / "Cargo.toml").write_text(workspace(crates))
    shutil.copyfile(ROOT / "Cargo.lock", to / "Cargo.lock")
    # Forgets the crates that only tests need.
    subprocess.run(["cargo", "metadata", "--format-version", "1"], cwd=to, stdout=subprocess.DEVNULL, check=True)
    done = subprocess.run(["cargo", "vendor", "--locked", "vendor"], cwd=to, capture_output=True, text=True, check=True)
    # Cargo takes paths in it from the folder above, as for `.cargo`, which CRAN does not want.
    (to / "config").mkdir()
    (to / "config/vendor.toml").write_text(done.stdout)
    for crate in sorted((to / "vendor").iterdir()):
        reduce(crate)
    pack(to / "vendor", to / "vendor.tar.xz")
    shutil.rmtree(to / "vendor")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
