"""python3 run.py [-q] [NAME..]: runs all or the named cases; OUTCORE=binary. -q prints only what is not fine.
Verdicts: ok; ok-refused; UNNAMED (refused without the words that help); REFUSED (should be read, but refused by name); WRONG (status 0 and another graph, or not refused); CRASH."""
import json, math, os, pathlib, shutil, subprocess, sys, tempfile
here = pathlib.Path(__file__).resolve().parent
binary = os.path.abspath(os.environ.get("OUTCORE", "target/release/outcore"))

def components(edges):
    parent = {}
    def find(x):
        while parent[x] != x: x = parent[x]
        return x
    strength = {}
    for a, b, w in edges:
        for n in ((a,) if b is None else (a, b)):
            parent.setdefault(n, n); strength.setdefault(n, 0.0)
        if b is None or a == b or w == 0: continue
        strength[a] += w; strength[b] += w
        parent[find(a)] = find(b)
    groups = {}
    for n in parent: groups.setdefault(find(n), []).append(n)
    return sorted(sorted(g) for g in groups.values()), strength

def same(lines, edges, shape):
    got = {}
    groups = {}
    columns = lines[0].split("\t") if lines else []
    if columns[:2] != ["node", "community"]: return False
    weight = columns.index("weight") - len(columns)
    for line in lines[1:]:
        cells = line.split("\t")
        # A name may hold tabs, in quotes.
        name = "\t".join(cells[:1 - len(columns)])
        if name.startswith('"'): name = name[1:-1].replace('""', '"')
        got[name] = float(cells[weight]); groups.setdefault(cells[1 - len(columns)], []).append(name)
    want_groups, strength = components(edges)
    close = lambda a, b: math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-9)
    if shape:
        a = sorted(sorted(round(got[n], 4) for n in g) for g in groups.values())
        b = sorted(sorted(round(strength[n], 4) for n in g) for g in want_groups)
        return a == b
    return sorted(sorted(g) for g in groups.values()) == want_groups and all(close(got[n], strength[n]) for n in strength)

def verdict(check, status, out, err):
    if status not in (0, 1, 2, 3, 4) or "panicked" in err: return "CRASH"
    if status in (2, 3):
        if check["rule"] == "read": return "REFUSED"
        is_named = check["rule"] != "refuse" or all(text in err for text in check["contains"] or ())
        return "ok-refused" if is_named else "UNNAMED"
    if status: return "CRASH"
    if check["rule"] == "refuse": return "WRONG"
    good = True
    if check["contains"]: good = all(text in out + err for text in check["contains"])
    if check["lacks"]: good = good and not any(text in out + err for text in check["lacks"])
    if check["edges"] and check["compare"]: good = good and any(same(out.splitlines(), e, check["shape"]) for e in check["edges"])
    return "ok" if good else "WRONG"

def vary(folder, variant):
    """Change the only input: gz, stdin, crlf, bom, glob. False where the case has several, or its bytes matter."""
    files = [p for p in folder.iterdir() if p.name not in ("cmd", "expected", "check")]
    cmd = (folder / "cmd").read_text()
    if len(files) != 1 or files[0].name not in cmd or not cmd.startswith("outcore cluster"): return False
    path = files[0]; data = path.read_bytes()
    if b"\x00" in data or variant in ("crlf", "bom") and (b"\r" in data or data[:1] >= b"\x80"): return False
    if variant == "gz":
        import gzip
        (folder / (path.name + ".gz")).write_bytes(gzip.compress(data)); path.unlink(); cmd = cmd.replace(path.name, path.name + ".gz", 1)
    elif variant == "stdin": cmd = f"cat {path.name} | " + cmd.replace(path.name, "-", 1)
    elif variant == "crlf": path.write_bytes(data.replace(b"\n", b"\r\n"))
    elif variant == "bom": path.write_bytes(b"\xef\xbb\xbf" + data)
    elif variant == "noend": path.write_bytes(data.rstrip(b"\n"))
    elif variant == "name": path.rename(folder / "data.xyz"); cmd = cmd.replace(path.name, "data.xyz", 1)
    (folder / "cmd").write_text(cmd); return True

def main():
    args = sys.argv[1:]; variant = next((a[10:] for a in args if a.startswith("--variant=")), ""); args = [a for a in args if not a.startswith("--variant=")]; quiet = "-q" in args; names = [a for a in args if a != "-q"] or sorted(p.parent.name for p in here.glob("*/check"))
    counts = {}; table = []
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp); (tmp / "bin").mkdir(); (tmp / "bin" / "outcore").symlink_to(binary)
        env = dict(os.environ, PATH=f"{tmp}/bin:" + os.environ["PATH"])
        for name in names:
            shutil.copytree(here / name, tmp / name)
            if variant and not vary(tmp / name, variant): shutil.rmtree(tmp / name); continue
            try:
                p = subprocess.run(["bash", "./cmd"], cwd=tmp / name, env=env, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
                status, out, err = p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")
            except subprocess.TimeoutExpired: status, out, err = 124, "", "timeout"
            check = json.loads((here / name / "check").read_text())
            v = verdict(check, status, out, err); counts[v] = counts.get(v, 0) + 1; table.append((v, name))
            if quiet and v.startswith("ok"): continue
            print(f"== {name}: {v} (status {status})\n   expected: {(here / name / 'expected').read_text().strip()[:300]}")
            if not v.startswith("ok") or not quiet:
                for line in (out.splitlines()[:6] + err.splitlines()[:5]): print("     " + line[:170])
            shutil.rmtree(tmp / name)
    failed = [n for v, n in table if not v.startswith("ok")]
    print(counts); print("WRONG:", " ".join(n for v, n in table if v == "WRONG")); print("REFUSED:", " ".join(n for v, n in table if v == "REFUSED")); print("UNNAMED:", " ".join(n for v, n in table if v == "UNNAMED")); print("CRASH:", " ".join(n for v, n in table if v == "CRASH"))
    sys.exit(bool(failed))

main()
