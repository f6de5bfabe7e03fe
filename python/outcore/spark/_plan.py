"""When to move to a cluster: what `outcore.plan` foretells for one machine, beside a model of Spark.

The model is the engine's, `outcore::plan::spark`; `outcore plan --spark` asks the same one.
"""

from __future__ import annotations

import json

from outcore import _outcore
from outcore._report import Plan, Report
from outcore.errors import _made

__all__ = ["plan"]


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
    # Of what does not fit a 64-bit number nothing can be said, as of what is 0.
    if not all(0 < count < 1 << 64 for count in (workers, cores)):
        raise _made({"kind": "usage", "message": "a cluster has workers with cores and memory", "hint": "`workers=2`"})
    edges, limits = local["input"], local["limits"]
    passes = [stage["pass_count"] for stage in local["stages"] if stage["stage"] == "cluster"]
    counts = (edges["edge_count"], edges["distinct_edge_count"], edges["node_count"], max(passes, default=1))
    memories = (local["memory_bytes_min"], limits["memory_bytes"])
    here = (counts, float(local["seconds"]), memories, (local["disk_bytes"], free_disk))
    found = _outcore.spark_plan(here, (workers, cores, str(memory)))
    return Report(json.loads(found))
