"""Stages of a job in order: the engine in one task, or parts, levels and communities of a divided graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from outcore._report import Report
from outcore.errors import Options, Text, as_arguments, option
from outcore.spark._result import Clustered
from outcore.spark._session import described, task_threads, usage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Job", "refuse_undivided"]

#: Methods that the engine finishes, and the maximum number of sweeps before. Half of the nodes may move in a sweep.
_BY_ENGINE = ("map-equation", "modularity")
_FIRST_SWEEPS = 24
#: A level of communities must have at most this share of the nodes and edges of the one below.
_SHRINKS = 0.9
#: Options of a graph of communities.
_OF_COMMUNITIES = {"is_weighted": True, "duplicates": "sum", "self_loops": "keep", "min_weight": None, "parts": None}
#: Methods of a divided graph.
_DIVIDED = (*_BY_ENGINE, "label-propagation", "components")
#: Stages that are removed once the result is complete, and names of those with numbers.
_PASSING = (
    *("names", "parts", "sums", "communities", "coarse", "group-sums", "groups", "engine", "merged"),
    *("level", "engine.json", "result.json", "bounds.json", "sweeps.json", "moves.json", "moved.json", "last.json"),
)
_PASSING_NUMBERED = ("rounds", "links", "mates", "joined")


class Job:
    """State of one call, whose completed stages are reused after a failure."""

    def __init__(self, work: Any, options: dict[str, Any], notify: Callable[[str, str, bool], None]) -> None:
        self.work, self.options = work, options
        self._notify = notify
        self._seconds: list[dict[str, Any]] = []

    def _stage(self, name: str, make: Callable[[], Any]) -> Any:
        begun = time.monotonic()
        self._notify(name, "", False)
        with described(self.work.spark, f"outcore: {name}"):
            made = make()
        self._seconds.append({"name": name, "seconds": time.monotonic() - begun})
        self._notify(name, "", True)
        return made

    def run(self, rows: DataFrame, node_type: Any, job: dict[str, Any], *, restart: bool) -> Clustered:
        """Find the communities of the rows, in the folder of the job that they and its options identify."""
        from outcore.spark import _index

        seen = self._stage("check", lambda: _index.check(rows))
        work = self.work = self.work.of_job(job | seen, restart=restart)
        # The report is saved last.
        if work.facts("report") is None:
            work.save_facts("input", {"row_count": seen["row_count"]})
            facts = self._find(rows, seen["row_count"])
            work.save_facts("report", {"stages": self._seconds, **facts})
            work.remove(*_PASSING)
            for name in _PASSING_NUMBERED:
                work.remove_all(name)
        result = work.read("result").orderBy("id")
        nodes = result["node"].cast(node_type).alias("node")
        return Clustered(result.select(nodes, "community"), Report(work.facts("report") or {}))

    def _find(self, rows: DataFrame, row_count: int) -> dict[str, Any]:
        if self.options["parts"] is None and row_count <= self.options["task_rows"]:
            return self._in_one_task(rows, row_count)
        refuse_undivided(self.options, row_count)
        return self._in_parts(rows)

    def _in_one_task(self, rows: DataFrame, row_count: int) -> dict[str, Any]:
        """Let the engine cluster all rows; return its report in the form of a job on Spark."""
        columns = ["source", "target", *(["weight"] if self.options["is_weighted"] else []), "place"]
        names = ("method", "seed", "resolution", "max_sweeps", "tolerance", "duplicates", "self_loops", "min_weight")
        options = {name: self.options[name] for name in (*names, "directed")}
        _, found = self._by_engine("result", rows.select(*columns), options)
        communities = {"resumed_sweep_count": 0, **found["communities"]}
        return {
            "input": {"row_count": row_count},
            "graph": {**found["graph"], "part_count": 1},
            "communities": communities,
            "sweeps": communities.pop("sweeps", []),
            "warnings": found["warnings"],
        }

    def _by_engine(self, name: str, rows: DataFrame, options: dict[str, Any]) -> tuple[DataFrame, dict[str, Any]]:
        from outcore.spark._engine import cluster_in_task

        limits = {"memory": self.options["memory"], "threads": task_threads(self.work.spark)}
        found: tuple[DataFrame, dict[str, Any]] = self._stage(
            "engine", lambda: cluster_in_task(self.work, name, rows, options | limits)
        )
        return found

    def _in_parts(self, rows: DataFrame) -> dict[str, Any]:
        from outcore.spark import _index

        defaults = {"max_sweeps": _FIRST_SWEEPS if self.options["method"] in _BY_ENGINE else 30, "tolerance": 0.001}
        self.options |= {name: value for name, value in defaults.items() if self.options[name] is None}
        work = self.work
        names, node_count = self._stage("number", lambda: _index.names_of(work, rows))
        parts = self._parts(lambda: _index.numbered_edges(rows, names), node_count)
        try:
            history, nodes, found = self._communities(parts, node_count)
            result = names.join(nodes, "id").select("id", names["name"].alias("node"), "community")
            ordered = result.repartitionByRange(_index.tasks_for(work, node_count), "id").sortWithinPartitions("id")
            self._stage("write", lambda: work.stage("result", lambda: ordered))
        finally:
            parts.release()
        return self._report(parts, node_count, history, found)

    def _parts(self, edges: Callable[[], DataFrame], node_count: int) -> Any:
        """Divide a graph of numbered edges into parts."""
        from outcore.spark import _index
        from outcore.spark._parts import Parts

        work, options = self.work, self.options
        if not work.has("parts"):
            chunks = self._stage("sort", lambda: _index.chunks_of(work, edges(), options))
            bounds = _index.bounds_of(work, chunks, node_count, options["parts"])
            self._stage("divide", lambda: _index.parts_of(work, chunks, bounds))
            work.remove("chunks")
        return Parts(work, _index.known_bounds(work), options["method"])

    def _communities(self, parts: Any, node_count: int) -> tuple[dict[str, Any], DataFrame, dict[str, Any]]:
        """Return the history of the sweeps, the community of each node, and facts about all communities."""
        from outcore.spark import _closing, _sweeps

        work, options = self.work, self.options
        history: dict[str, Any] = {"sweeps": [], "converged": True, "resumed_sweep_count": 0}
        further: dict[str, Any] = {}
        labels: Any = _sweeps.alike
        if options["method"] == "label-propagation":
            history = self._sweep(parts, _sweeps.propagation(options, node_count, parts.count))
            labels = _sweeps.propagated
        elif options["method"] in _BY_ENGINE:
            history, further = self._move(parts, node_count)
            labels = _sweeps.moved
        found = self._close(parts, ("sums", "communities"), labels)[-1]
        if options["method"] != "components":
            found["split_count"] = _closing.split_count(work, "communities")
        if options["method"] == "map-equation":
            found["code_length"] = _closing.code_length(work, "communities", history.pop("strength_logs"))
        return history, _closing.nodes_of(work, parts), {"split_count": 0, **found, **further}

    def _sweep(self, parts: Any, sweeps: Any) -> dict[str, Any]:
        def notify(text: str) -> None:
            self._notify("cluster", text, False)

        found: dict[str, Any] = self._stage("cluster", lambda: sweeps.run(parts, notify))
        return found

    def _close(self, parts: Any, names: tuple[str, str], labels: Any) -> tuple[DataFrame, DataFrame, dict[str, Any]]:
        """Number the connected pieces of labels; return their sums in each part, their numbers, and facts about all."""
        from outcore.spark import _closing

        self._stage("join", lambda: _closing.join_pieces(parts, labels))
        settled = _closing.sums_of(self.work, parts)
        sums = self.work.stage(names[0], lambda: settled)
        numbers, found = self._stage("count", lambda: _closing.count(self.work, names[1], sums))
        _closing.rename(parts, sums, numbers)
        return sums, numbers, found

    def _move(self, parts: Any, node_count: int, *, level: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
        """Move nodes, find communities of their communities, and move nodes once more."""
        from outcore.spark import _closing, _sweeps

        work, options = self.work, self.options
        last, before = _sweeps.last_moves(options, node_count), work.facts("moved")
        is_resumed = before is not None
        if before is None:
            history = self._sweep(parts, _sweeps.first_moves(options, node_count, seeded=level == 0))
            sums, numbers, found = self._close(parts, ("group-sums", "groups"), _sweeps.moved)
            merged, above = self._merge(parts, numbers, (node_count, found["community_count"]), level)
            _closing.rename(parts, sums, merged)
            before = work.save_facts("moved", {"history": history, "above": above, "state": parts.checkpoint()})
        elif work.facts(last.name) is None:
            parts.resume(before["state"])
        history, above, polished = before["history"], before["above"], self._sweep(parts, last)
        sweeps = [sweep | {"stage": "groups", "level": level} for sweep in history["sweeps"]]
        sweeps += above.get("sweeps", [])
        resumed = len(sweeps) if is_resumed else history["resumed_sweep_count"]
        resumed += polished["resumed_sweep_count"]
        sweeps += [sweep | {"stage": "communities", "level": level} for sweep in polished["sweeps"]]
        combined = {"sweeps": sweeps, "converged": history["converged"], "resumed_sweep_count": resumed}
        logs = [sweep.pop("strength_logs", None) for sweep in sweeps]
        return combined | {"strength_logs": logs[-1]}, {"levels": above["levels"]}

    def _merge(self, parts: Any, numbers: DataFrame, counts: tuple[int, int], level: int) -> tuple[DataFrame, Any]:
        """Find communities of communities: on Spark if they have more edges than a task takes, else by the engine.

        Returns (root, number), and facts about the levels above. `counts` are those of nodes and communities.
        """
        from pyspark.sql import functions as F  # noqa: N812

        from outcore.spark import _closing

        work, task_rows = self.work, self.options["task_rows"]
        coarse = self._stage("contract", lambda: work.stage("coarse", lambda: _closing.contracted(work, parts)))
        edge_count, (node_count, count) = coarse.count(), counts
        above: dict[str, Any] = {"levels": [{"node_count": count, "edge_count": edge_count}]}
        if not edge_count:
            # No edge joins two communities.
            return numbers.select("root", "number"), above
        before = self.work.facts("input")["row_count"]
        shrinks = count <= _SHRINKS * node_count and edge_count <= _SHRINKS * before
        if edge_count > task_rows and shrinks:
            table, found = self._level_above(coarse, edge_count, count, level + 1)
            above = {"levels": above["levels"] + found["levels"], "sweeps": found["sweeps"]}
        else:
            # Nodes are groups already: there may be no more of them than communities.
            options = {name: self.options[name] for name in ("method", "seed", "resolution")}
            options |= {"seeding": "own", "self_loops": "keep"}
            edges = coarse.orderBy("source", "target").withColumn("place", F.monotonically_increasing_id())
            table, _ = self._by_engine("engine", edges, options)
        table = table.selectExpr("node AS number", "community AS g")
        # Communities without edges are not in it.
        columns = ("number", "root", "count", "coalesce(g, -1 - number) AS merged")
        whole = numbers.join(table, "number", "left").selectExpr(*columns)
        merged = whole.groupBy("merged").agg(F.min("root").alias("root"), F.sum("count").alias("count"))
        numbered, _ = _closing.numbered_by_size(work, "merged", merged)
        found = numbered.select("merged", F.col("number").alias("community"))
        return whole.select("root", "merged").join(found, "merged").selectExpr("root", "community AS number"), above

    def _level_above(self, edges: DataFrame, edge_count: int, node_count: int, level: int) -> tuple[DataFrame, Any]:
        """Find communities of the nodes of a level on Spark; return (node, community), and facts about the levels."""
        from outcore.spark import _closing, _sweeps

        job = Job(self.work.below("level"), self.options | _OF_COMMUNITIES, self._notify)
        facts = job.work.facts("level")
        if facts is None:
            job.work.save_facts("input", {"row_count": edge_count})
            arcs = edges.selectExpr("source AS s", "target AS t", "weight", "0L AS place")
            parts = job._parts(lambda: arcs, node_count)
            try:
                history, further = job._move(parts, node_count, level=level)
                job._close(parts, ("sums", "communities"), _sweeps.moved)
                nodes = _closing.nodes_of(job.work, parts).withColumnRenamed("id", "node")
                job.work.write("nodes", nodes)
            finally:
                parts.release()
            self._seconds += job._seconds
            facts = job.work.save_facts("level", {"sweeps": history["sweeps"], **further})
        return job.work.read("nodes"), facts

    def _report(self, parts: Any, node_count: int, history: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
        rows, arcs = self.work.facts("input"), self.work.facts("bounds")
        texts = warnings_of(self.options["method"], found["largest_size"] / node_count)
        left = found["levels"][-1]["edge_count"] if "levels" in found else 0
        if left > self.options["task_rows"]:
            texts.append((f"one task had to take {left:,} edges between communities, more than ", option("task-rows")))
        return {
            "input": rows,
            "graph": {
                "node_count": node_count,
                "part_count": parts.count,
                "combined_count": arcs["combined_count"] // 2,
                "dropped_loop_count": arcs["dropped_loop_count"],
                "weight_total": found.pop("weight_total", None),
            },
            "communities": {
                "method": self.options["method"],
                "seed": self.options["seed"],
                **found,
                "sweep_count": len(history["sweeps"]),
                "resumed_sweep_count": history["resumed_sweep_count"],
                "converged": history["converged"],
            },
            "sweeps": history["sweeps"],
            "warnings": [as_arguments(text) for text in texts],
        }


def warnings_of(method: str, largest_share: float) -> list[Text]:
    """Return the warning of the engine if one community holds more than half of the nodes."""
    if largest_share <= 0.5 or method == "components":
        return []
    advice: dict[str, tuple[str | Options, ...]] = {
        "label-propagation": ("; ", option("method", "map-equation"), " does not let one label flood the graph"),
        "modularity": ("; a larger ", option("resolution"), " gives smaller ones"),
    }
    percent = f"{100 * largest_share:.1f} %"
    return [(f"one community holds {percent} of the nodes, more than half", *advice.get(method, ()))]


def refuse_undivided(options: dict[str, Any], row_count: int | None = None) -> None:
    """Refuse what a divided graph does not have."""
    missing = [option("method", options["method"])] if options["method"] not in _DIVIDED else []
    missing += [option("directed")] if options["directed"] else []
    if not missing:
        return
    if row_count is None:
        raise usage((missing[0], " is not available for a divided graph"), ("leave out ", option("parts")))
    message = f" is for at most {options['task_rows']:,} edges, which one task takes, and there are {row_count:,}"
    raise usage((missing[0], message), ("use a larger ", option("task-rows"), ", or another method"))
