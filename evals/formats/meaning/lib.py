"""Helpers: case(name, content or {file: content}, rule, edges...)."""
import json, os, pathlib, shutil
HERE = pathlib.Path(__file__).parent
CASES = {}
COMPONENTS = "outcore cluster {} -o - --method components --member-weights"

def t(text):
    """Runs of spaces become one tab; `_` stays; `~` is a space."""
    return "\n".join("\t".join(line.split()).replace("~", " ") for line in text.strip("\n").split("\n")) + "\n"

def s(text):
    return text.strip("\n") + "\n"

def parse(edges):
    if edges is None: return None
    if isinstance(edges, list): return edges
    out = []
    for part in edges.split(";"):
        words = part.split()
        if words: out.append([words[0], words[1] if len(words) > 1 else None, float(words[2]) if len(words) > 2 else 1.0])
    return out  # [name, None, ..] = node without edges

def case(name, content, rule, *edges, cmd=None, shape=False, contains=None, why="", file="input", lacks=None):
    """rule: read | either | refuse. edges: alternatives, each `a b 1; b c 2; d` (d: a node alone)."""
    assert name not in CASES, name
    files = content if isinstance(content, dict) else {file: content}
    first = next(iter(files))
    CASES[name] = dict(files=files, cmd=cmd or COMPONENTS.format(first if " " not in first else repr(first)), rule=rule,
        edges=[parse(e) for e in edges], shape=shape, contains=contains, lacks=lacks, why=why, compare=cmd is None or cmd.startswith("outcore cluster") and "--member-weights" in cmd)

def write():
    for name, c in CASES.items():
        folder = HERE / name
        shutil.rmtree(folder, ignore_errors=True); folder.mkdir()
        for file, content in c["files"].items():
            (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        (folder / "cmd").write_text(c["cmd"] + "\n")
        said = {"read": "must be read as: ", "either": "refused/asks (status 2 or 3), or: ", "refuse": "refused/asks (status 2 or 3)"}[c["rule"]]
        alts = " | ".join("; ".join(f"{a}-{b} {w:g}" if b is not None else f"{a} alone" for a, b, w in e) for e in c["edges"])
        if c["contains"]: alts += " output contains: " + " and ".join(c["contains"])
        (folder / "expected").write_text(said + alts + (f"\n{c['why']}" if c["why"] else "") + "\n")
        (folder / "check").write_text(json.dumps({k: c[k] for k in ("rule", "edges", "shape", "contains", "lacks", "compare")}, ensure_ascii=False) + "\n")
