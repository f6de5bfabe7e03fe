"""When to move to a cluster: what `outcore.plan` foretells for one machine, beside a model of Spark.

The model (its figures were measured on two cores of a virtual machine, `evals/spark`, and are rough):

- *start*: 20 s whatever the size;
- *prepare*: 8 microseconds of a core for each row: numbering, joining, sorting, packing;
- *a round*: 0.3 s, and 0.1 s for each wave of tasks (parts divided by cores);
- *a sweep*: four rounds, and 100 nanoseconds of a core for each arc, all rounds together; what the engine
  does in other methods than label propagation is left out;
- *sweeps*: as often as the plan says that the graph is read;
- *close and write*: 2 microseconds of a core for each node.

It takes networks and disks to keep up, and edges to be where the cluster reads them. A task needs 5 bytes for each arc
of its part, 8 for each node outside that it knows (as many as arcs at most), 12 for each of its nodes, 0.31 for each
node of the graph, and 300 MiB for Spark and Python.
"""

from __future__ import annotations

import re

from outcore._report import Plan, Report
from outcore.errors import _made

__all__ = ["plan"]

_START, _ROUND, _WAVE = 20.0, 0.3, 0.1
_ROW, _ARC, _NODE = 8e-6, 100e-9, 2e-6
_ROUNDS = 4
_PART = 8 << 20
#: Python and Spark in a task, beside the part.
_TASK_BYTES = 300 << 20
#: How much faster a cluster has to be to be worth its trouble.
_WORTH = 2.0
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def plan(local: Plan, *, workers: int, cores: int, memory: str | int, free_disk: int | None = None) -> Report:
    """Compare what one machine needs with a Spark cluster, by a model.

    Parameters
    ----------
    local : Plan
        What :func:`outcore.plan` foretells for the edges on this machine.
    workers, cores : int
        Workers of the cluster, and the cores of each.
    memory : str or int
        Memory of each worker, such as ``"16GiB"``, or bytes.
    free_disk : int, optional
        Bytes that are free here for temporary files and the result, if that may be too little.

    Returns
    -------
    Report
        ``local_seconds`` and ``spark_seconds``; ``task_bytes``, the memory that a task needs, and ``worker_bytes``,
        that of a worker with a task on each core; ``moves``, whether the model says to move, and ``reasons``.

    Raises
    ------
    outcore.UsageError
        For numbers that are not above 0.

    Examples
    --------
    >>> import outcore, outcore.spark
    >>> local = outcore.plan("tests/graphs/karate.tsv", method="label-propagation")
    >>> outcore.spark.plan(local, workers=4, cores=8, memory="32GiB").moves
    False
    """
    worker_memory = _bytes(memory)
    if min(workers, cores, worker_memory) < 1:
        raise _made({"kind": "usage", "message": "a cluster has workers with cores and memory", "hint": "`workers=2`"})
    edges = local["input"]
    rows, nodes = edges["edge_count"], edges["node_count"]
    arcs = 2 * (edges["distinct_edge_count"] or rows)
    all_cores = workers * cores
    parts = max(all_cores, -(-(arcs + nodes) // _PART))
    sweeps = max((stage["pass_count"] for stage in local["stages"] if stage["stage"] == "cluster"), default=1)
    rounds = _ROUNDS * (_ROUND + _WAVE * -(-parts // all_cores))
    spark = _START + (rows * _ROW + nodes * _NODE) / all_cores + sweeps * (rounds + arcs * _ARC / all_cores)
    task_bytes = _TASK_BYTES + 13 * arcs // parts + 12 * nodes // parts + 31 * nodes // 100
    worker_bytes = cores * task_bytes
    here, reasons = float(local["seconds"]), []
    limit = local["limits"]["memory_bytes"]
    if local["memory_bytes_min"] > limit:
        reasons.append("this machine has not the memory that the plan names")
    if free_disk is not None and local["disk_bytes"] > free_disk:
        reasons.append("this machine has not the disk that the plan names")
    if here > _WORTH * spark:
        reasons.append(f"the cluster takes {spark:,.0f} s instead of {here:,.0f} s")
    if fits := worker_bytes <= worker_memory:
        verdict = reasons
    else:
        verdict = [f"workers have not the memory: {worker_bytes:,} bytes for {cores} tasks"]
    return Report(
        {
            "local_seconds": here,
            "spark_seconds": spark,
            "part_count": parts,
            "task_bytes": task_bytes,
            "worker_bytes": worker_bytes,
            "moves": bool(reasons) and fits,
            "reasons": verdict,
        }
    )


def _bytes(memory: str | int) -> int:
    if isinstance(memory, int):
        return memory
    found = re.fullmatch(r"([0-9.]+)\s*(B|[KMGT]iB)", memory)
    if found is None:
        raise _made({"kind": "usage", "message": f"`{memory}` is no size", "hint": 'write it as `memory="16GiB"`'})
    return int(float(found[1]) * _UNITS[found[2]])
