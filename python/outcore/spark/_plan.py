"""When to move to a cluster: the prediction of `outcore.plan` for one machine, compared with a model of Spark.

The model belongs to the engine, `outcore::plan::spark`; `outcore plan --spark` uses it too.
"""

from __future__ import annotations

import json

from outcore import _outcore
from outcore._report import Plan, Report
from outcore.errors import _made

__all__ = ["plan"]


def plan(local: Plan, *, workers: int, cores: int, memory: str | int, free_disk: int | None = None) -> Report:
    """Compare one machine with a Spark cluster, by a model.

    Parameters
    ----------
    local : Plan
        Prediction of :func:`outcore.plan` for the edges on this machine.
    workers, cores : int
        Number of workers of the cluster, and of cores per worker.
    memory : str or int
        Memory per worker, such as ``"16GiB"``, or a number of bytes.
    free_disk : int, optional
        Bytes free on this machine for temporary files and the result, if they may be too few.

    Returns
    -------
    Report
        Fields ``local_seconds`` and ``spark_seconds``; ``task_bytes``, the memory of a task, and ``worker_bytes``, that
        of a worker with a task on each core; ``moves``, whether the model recommends to move, and ``reasons``.

    Raises
    ------
    outcore.UsageError
        If a number is not above 0.

    Examples
    --------
    >>> import outcore, outcore.spark
    >>> local = outcore.plan("tests/graphs/karate.tsv", method="label-propagation")
    >>> outcore.spark.plan(local, workers=4, cores=8, memory="32GiB").moves
    False
    """
    # Numbers beyond 64 bits are refused like 0.
    if not all(0 < count < 1 << 64 for count in (workers, cores)):
        raise _made({"kind": "usage", "message": "a cluster has workers with cores and memory", "hint": "`workers=2`"})
    edges, limits = local["input"], local["limits"]
    passes = [stage["pass_count"] for stage in local["stages"] if stage["stage"] == "cluster"]
    counts = (edges["edge_count"], edges["distinct_edge_count"], edges["node_count"], max(passes, default=1))
    memories = (local["memory_bytes_min"], limits["memory_bytes"])
    here = (counts, float(local["seconds"]), memories, (local["disk_bytes"], free_disk))
    found = _outcore.spark_plan(here, (workers, cores, str(memory)))
    return Report(json.loads(found))
