"""Comparisons of two results: figures by their definitions, tables in every format, results of any kind."""

from __future__ import annotations

import gc
import math
import random
from collections import Counter
from pathlib import Path

import outcore
import pyarrow as pa
import pytest


def write(path: str, communities: dict[str, object]) -> str:
    Path(path).write_text("".join(f"{node}\t{community}\n" for node, community in communities.items()))
    return path


def entropy(sizes: Counter[object], n: int) -> float:
    return -sum(size / n * math.log(size / n) for size in sizes.values())


def expected(a: Counter[object], b: Counter[object], n: int) -> float:
    """Return the mutual information by chance (Vinh, Epps and Bailey, 2010), with exact binomials."""
    total = 0.0
    for one in a.values():
        for other in b.values():
            for shared in range(max(1, one + other - n), min(one, other) + 1):
                ways = math.comb(one, shared) * math.comb(n - one, other - shared)
                information = shared / n * math.log(n * shared / (one * other))
                total += information * (ways / math.comb(n, other))
    return total


def measures(a: dict[str, object], b: dict[str, object]) -> tuple[float, float, float]:
    """Return NMI, AMI and ARI, as scikit-learn defines them, with arithmetic means."""
    both = [node for node in a if node in b]
    n = len(both)
    joint = Counter((a[node], b[node]) for node in both)
    of_a, of_b = Counter(a[node] for node in both), Counter(b[node] for node in both)
    if len(of_a) == len(of_b) == len(joint):
        return 1.0, 1.0, 1.0
    mean = (entropy(of_a, n) + entropy(of_b, n)) / 2
    mutual = 2 * mean - entropy(joint, n)  # type: ignore[arg-type]
    chance = expected(of_a, of_b, n)

    def pairs(sizes: Counter[object]) -> int:
        return sum(math.comb(size, 2) for size in sizes.values())

    in_a, in_b, in_both = pairs(of_a), pairs(of_b), pairs(joint)  # type: ignore[arg-type]
    by_chance = in_a * in_b / math.comb(n, 2)
    ari = (in_both - by_chance) / ((in_a + in_b) / 2 - by_chance)
    return mutual / mean, (mutual - chance) / (mean - chance), ari


@pytest.mark.parametrize("seed", range(40))
def test_measures_and_overlaps_are_those_of_the_definitions(seed: int) -> None:
    chance = random.Random(seed)
    nodes, sizes = 10 + chance.randrange(200), [1 + chance.randrange(9) for _ in range(2)]
    a = {f"node {at}": chance.randrange(sizes[0]) for at in range(nodes) if chance.random() < 0.9}
    b = {
        f"node {at}": f"family {chance.randrange(sizes[1]) if chance.random() < 0.5 else a.get(f'node {at}', 0)}"
        for at in range(nodes)
        if chance.random() < 0.9
    }
    found = outcore.compare(write("a.tsv", a), write("b.tsv", b), community_columns="1,2", progress=False)
    agreement = found.agreement
    assert (agreement.nmi, agreement.ami, agreement.ari) == pytest.approx(measures(a, b), abs=1e-12)
    both = [node for node in a if node in b]
    assert (found.node_count, found.a.node_count, found.b.only_count) == (len(both), len(a), len(b) - len(both))
    joint = Counter((a[node], b[node]) for node in both)
    of_a, of_b = Counter(a.values()), Counter(b.values())
    rows = found.overlaps.to_pylist()
    assert {(row["a"], row["b"]): row["shared"] for row in rows} == joint
    for row in rows:
        assert (row["size_a"], row["size_b"]) == (of_a[row["a"]], of_b[row["b"]])
        union = row["size_a"] + row["size_b"] - row["shared"]
        assert row["jaccard"] == pytest.approx(row["shared"] / union, rel=1e-5)
    assert len(found.overlaps.to_pandas()) == found.overlap_count == len(rows)


def test_results_of_any_kind_are_compared(karate: Path, own_directory: Path) -> None:
    one = outcore.cluster(karate, method="modularity", seed=1)
    other = outcore.cluster(karate, method="modularity", resolution=2.0, output="b.parquet")
    for a, b in ((one, other), (one.path, "b.parquet"), (one, Path("b.parquet"))):
        found = outcore.compare(a, b, moved="moved.csv", report="report.html")
        assert found.node_count == 34 and 0 < found.moved_count < 34
        assert isinstance(found.overlaps, pa.Table)
        moved = [line.split(",") for line in Path("moved.csv").read_text().splitlines()]
        assert moved[0] == ["node", "a", "b"] and len(moved) - 1 == found.moved_count
        assert all(one[node] == int(of_a) and other[node] == int(of_b) for node, of_a, of_b in moved[1:])
        assert "outcore-report" in Path("report.html").read_text()
    same = outcore.compare(one, one)
    assert (same.agreement.nmi, same.agreement.ami, same.agreement.ari, same.moved_count) == (1.0, 1.0, 1.0, 0)
    assert "34" in same._repr_html_()


def test_overlaps_are_read_in_every_format(karate: Path) -> None:
    one = outcore.cluster(karate, method="modularity", seed=1)
    other = outcore.cluster(karate, method="modularity", resolution=2.0)
    expected = outcore.compare(one, other).overlaps.to_pylist()
    for name in ("o.arrow", "o.parquet", "o.jsonl", "o.csv", "o.tsv"):
        assert outcore.compare(one, other, output=name).overlaps.to_pylist() == expected, name
    named = outcore.compare(one, other, output="named.tsv", output_header=True)
    assert named.overlaps.to_pylist() == expected


def test_a_temporary_table_is_removed_with_its_comparison(own_directory: Path) -> None:
    path = write("a.tsv", {"x": 0, "y": 1})
    found = outcore.compare(path, path)
    overlaps = found.overlaps
    del found
    gc.collect()
    assert [left.name for left in own_directory.iterdir()] == ["a.tsv"]
    assert overlaps.num_rows == 2
    with pytest.raises(outcore.InputError, match="have no node in common"):
        outcore.compare(path, write("b.tsv", {"z": 0}))
    assert sorted(left.name for left in own_directory.iterdir()) == ["a.tsv", "b.tsv"]


def test_communities_are_named_by_their_representatives(tmp_path: Path) -> None:
    graph = Path(__file__).resolve().parents[2] / "tests/graphs/karate.tsv"
    names = [tmp_path / "first.tsv", tmp_path / "second.csv"]
    first = outcore.cluster(graph, method="modularity", representatives=names[0], progress=False)
    second = outcore.cluster(graph, method="modularity", resolution=2.0, summary=names[1], progress=False)
    found = outcore.compare(first, second, representatives=names, report=tmp_path / "page.html", progress=False)
    rows = [line.split("\t") for line in names[0].read_text().splitlines()]
    assert dict(found.representatives["a"]) == {number: node for number, node, _ in rows}
    assert len(found.representatives["b"]) == second.community_count
    page = (tmp_path / "page.html").read_text()
    assert all(f">{number}: {node} · " in page for number, node, _ in rows)
    with pytest.raises(outcore.UsageError, match="has 1 file for 2 results"):
        outcore.compare(first, second, representatives=names[:1], progress=False)
    (tmp_path / "twice.tsv").write_text("0\t1\n0\t2\n")
    with pytest.raises(outcore.InputError, match="names two nodes of community"):
        outcore.compare(first, second, representatives=[tmp_path / "twice.tsv", names[1]], progress=False)
