"""Software bill of materials of a release, from the packages that Cargo resolved: CycloneDX 1.5, as JSON.

`sbom.py FILE` writes it for the shipped command and Python module on Linux; `sbom.py --check FILE` validates a file
against the schema. The same sources give the same bytes: the time is SOURCE_DATE_EPOCH, and the serial number is
derived from the content.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("outcore-cli", "outcore-py")
#: Algorithm of the checksums in `Cargo.lock`.
HASH = "SHA-256"


def metadata() -> dict[str, Any]:
    """Return the packages that Cargo resolved, with all features."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    found: dict[str, Any] = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    return found


def checksums() -> dict[tuple[str, str], str]:
    """Return the checksum of each package by name and version."""
    found = {}
    for package in (ROOT / "Cargo.lock").read_text().split("[[package]]")[1:]:
        fields = dict(line.split(" = ", 1) for line in package.splitlines() if " = " in line)
        if "checksum" in fields:
            found[fields["name"].strip('"'), fields["version"].strip('"')] = fields["checksum"].strip('"')
    return found


def shipped(nodes: dict[str, Any], roots: list[str]) -> dict[str, list[str]]:
    """Return the packages that reach the binaries with their dependencies, without those of builds and tests only."""
    found: dict[str, list[str]] = {}
    left = list(roots)
    while left:
        package = left.pop()
        if package not in found:
            needs = nodes[package]["deps"]
            is_shipped = [any(kind["kind"] is None for kind in needed["dep_kinds"]) for needed in needs]
            found[package] = sorted(needed["pkg"] for needed, is_it in zip(needs, is_shipped, strict=True) if is_it)
            left += found[package]
    return found


def purl(package: dict[str, Any]) -> str:
    """Return the package URL of a package, independent of the registry."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package: dict[str, Any], hashes: dict[tuple[str, str], str]) -> dict[str, Any]:
    """Return the entry of one package."""
    name, version = package["name"], package["version"]
    found: dict[str, Any] = {"type": "library", "bom-ref": purl(package), "name": name, "version": version}
    if (name, version) in hashes:
        found["hashes"] = [{"alg": HASH, "content": hashes[name, version]}]
    if package["license"]:
        # A slash is an old notation for `OR`.
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    found["purl"] = purl(package)
    if package["repository"]:
        found["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return found


def dependency(ref: str, packages: dict[str, Any], needs: list[str]) -> dict[str, Any]:
    """Return the dependencies of one package."""
    return {"ref": ref, "dependsOn": sorted({purl(packages[at]) for at in needs})}


def bill() -> dict[str, Any]:
    """Return the complete bill."""
    known = metadata()
    packages = {package["id"]: package for package in known["packages"]}
    roots = [at for at, package in packages.items() if package["name"] in SHIPPED and package["source"] is None]
    needs = shipped({node["id"]: node for node in known["resolve"]["nodes"]}, roots)
    version = packages[roots[0]]["version"]
    hashes = checksums()
    subject = f"pkg:cargo/outcore-release@{version}"
    below = sorted(
        (dependency(purl(packages[at]), packages, needs[at]) for at in needs), key=lambda one: str(one["ref"])
    )
    made: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc).isoformat(),
            "component": {
                "type": "application",
                "bom-ref": subject,
                "name": "outcore",
                "version": version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
            },
        },
        "components": sorted((component(packages[at], hashes) for at in needs), key=lambda one: str(one["bom-ref"])),
        "dependencies": [dependency(subject, packages, roots), *sorted(below, key=lambda one: str(one["ref"]))],
    }
    made["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(made, sort_keys=True)).urn
    return made


def fault(text: str) -> str | None:
    """Return the error of a bill against the schema, or None."""
    error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
    return None if error is None else str(error)


def main() -> int:
    """Write or check a bill."""
    if sys.argv[1] == "--check":
        text = Path(sys.argv[2]).read_text()
    else:
        text = json.dumps(bill(), indent=1) + "\n"
        Path(sys.argv[1]).write_text(text)
    found = fault(text)
    if found:
        print(f"not CycloneDX 1.5: {found}", file=sys.stderr)
        return 1
    print(f"SBOM: {len(json.loads(text)['components'])} packages, valid CycloneDX 1.5")
    return 0


if __name__ == "__main__":
    sys.exit(main())
