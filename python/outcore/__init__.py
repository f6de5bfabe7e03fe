"""Find communities in graphs larger than memory, on one machine, within a memory limit.

>>> import outcore
>>> outcore.cluster("tests/graphs/karate.tsv", method="modularity", seed=1)
<Communities: 34 nodes in 4 communities, modularity 0.42>
"""

from typing import TYPE_CHECKING, Any

from outcore import tl
from outcore._api import build, cluster, compare, export, plan, score
from outcore._communities import Communities
from outcore._graph import Graph, open_graph
from outcore._neighbors import neighbors
from outcore._outcore import __version__
from outcore._progress import Progress
from outcore._report import Comparison, Plan, Report, Score
from outcore.errors import (
    CorruptFileError,
    DiskFullError,
    Error,
    FileError,
    InputError,
    Interrupted,
    MemoryTooSmallError,
    OutcoreWarning,
    UsageError,
)

if TYPE_CHECKING:
    from outcore._estimator import Clusterer

__all__ = [
    "Clusterer",
    "Communities",
    "Comparison",
    "CorruptFileError",
    "DiskFullError",
    "Error",
    "FileError",
    "Graph",
    "InputError",
    "Interrupted",
    "MemoryTooSmallError",
    "OutcoreWarning",
    "Plan",
    "Progress",
    "Report",
    "Score",
    "UsageError",
    "__version__",
    "build",
    "cluster",
    "compare",
    "export",
    "neighbors",
    "open_graph",
    "plan",
    "score",
    "tl",
]


def __getattr__(name: str) -> Any:
    """Import the estimator when it is used: scikit-learn takes longer than all else."""
    if name == "Clusterer":
        from outcore._estimator import Clusterer

        globals()[name] = Clusterer
        return Clusterer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
