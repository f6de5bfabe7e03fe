"""Backend of networkx: ``networkx.community.louvain_communities(graph, backend="outcore")``.

networkx finds it by the entry points of this package, and calls the functions below with a graph that
`convert_from_nx` returned. Nodes are passed to the engine by number, since names that differ may be the same as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any

__all__ = ["backend", "info"]

#: Edges below which reading the graph takes longer than the functions of networkx.
_SMALL = 10_000
#: Keywords with which a function of networkx does something that the engine does not.
_STEPS = "has no counterpart: `outcore` finds the best communities, not those of a step"


class Graph:
    """Graph of networkx, marked as one of this backend; it is read when a function is called."""

    __networkx_backend__ = "outcore"

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def is_directed(self) -> bool:
        """Return whether edges have a direction."""
        return bool(self.graph.is_directed())

    def is_multigraph(self) -> bool:
        """Return whether two nodes can have several edges."""
        return bool(self.graph.is_multigraph())


def _found(graph: Graph, weight: str | None, directed: bool = False, **options: Any) -> list[set[Any]]:
    """Return communities as sets of nodes, in the order of their first nodes, as networkx does."""
    from outcore._api import cluster

    # It is a view of the graph, so networkx need not keep it, nor warn that it may be out of date.
    kept = getattr(graph.graph, "__networkx_cache__", None)
    if kept:
        kept.get("backends", {}).pop("outcore", None)
    nodes = list(graph.graph)
    if not nodes:
        return []
    edges = _edges(graph.graph, nodes, weight)
    found = cluster(edges, directed=directed, duplicates="sum", self_loops="keep", **options)
    groups: dict[int, set[Any]] = {}
    for node, community in sorted(found):
        groups.setdefault(community, set()).add(nodes[node])
    return list(groups.values())


def _edges(graph: Any, nodes: list[Any], weight: str | None) -> Iterator[tuple[int, int, Any]]:
    """Yield edges by the numbers of their nodes; a node without one has a loop of weight 0."""
    numbers = {node: number for number, node in enumerate(nodes)}
    for source, target, value in graph.edges(data=weight, default=1) if weight is not None else _alike(graph):
        yield numbers[source], numbers[target], value
    for node, degree in graph.degree():
        if degree == 0:
            yield numbers[node], numbers[node], 0


def _alike(graph: Any) -> Iterator[tuple[Any, Any, int]]:
    return ((source, target, 1) for source, target in graph.edges())


def _seed(seed: Any) -> int:
    """Return a seed for the engine: networkx passes a generator, which is that of all of Python if none was given."""
    if seed is None or isinstance(seed, int):
        return seed or 0
    # Without a seed, the same graph has the same communities, as everywhere in this package.
    is_given = isinstance(seed, Random)
    return int(seed.randrange(1 << 32)) if is_given and not _is_shared(seed) else 0


def _is_shared(generator: Random) -> bool:
    import random

    return generator is getattr(random, "_inst", None)


def _by_modularity(
    graph: Graph, weight: str | None, resolution: float, max_level: int | None, **options: Any
) -> list[set[Any]]:
    if max_level is not None:
        raise NotImplementedError(f"`max_level` {_STEPS}")
    seed = _seed(options.pop("seed"))
    return _found(graph, weight, graph.is_directed(), method="modularity", resolution=resolution, seed=seed, **options)


def _by_labels(graph: Graph, weight: str | None, seed: Any, options: dict[str, Any]) -> list[set[Any]]:
    return _found(graph, weight, method="label-propagation", seed=_seed(seed), **options)


def louvain_communities(  # noqa: PLR0917
    graph: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 1e-07,
    max_level: int | None = None,
    seed: Any = None,
    **options: Any,
) -> list[set[Any]]:
    """Return communities of high modularity. `threshold` has no effect: the search ends by itself."""
    return _by_modularity(graph, weight, resolution, max_level, seed=seed, **options)


def leiden_communities(
    graph: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
    **options: Any,
) -> list[set[Any]]:
    """Return communities of high modularity, each of which is connected."""
    return _by_modularity(graph, weight, resolution, max_level, seed=seed, **options)


def label_propagation_communities(graph: Graph, **options: Any) -> list[set[Any]]:
    """Return communities by label propagation, without weights."""
    return _by_labels(graph, None, None, options)


def asyn_lpa_communities(
    graph: Graph, weight: str | None = None, seed: Any = None, **options: Any
) -> Iterable[set[Any]]:
    """Return communities by label propagation."""
    return iter(_by_labels(graph, weight, seed, options))


def fast_label_propagation_communities(
    graph: Graph, *, weight: str | None = None, seed: Any = None, **options: Any
) -> Iterable[set[Any]]:
    """Return communities by label propagation."""
    return iter(_by_labels(graph, weight, seed, options))


def connected_components(graph: Graph, **options: Any) -> Iterable[set[Any]]:
    """Return the components; directions have no effect."""
    return iter(_found(graph, None, method="components", **options))


def number_connected_components(graph: Graph, **options: Any) -> int:
    """Return the number of components."""
    return len(_found(graph, None, method="components", **options))


#: Functions of networkx by name.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "louvain_communities": louvain_communities,
    "leiden_communities": leiden_communities,
    "label_propagation_communities": label_propagation_communities,
    "asyn_lpa_communities": asyn_lpa_communities,
    "fast_label_propagation_communities": fast_label_propagation_communities,
    "connected_components": connected_components,
    "weakly_connected_components": connected_components,
    "number_connected_components": number_connected_components,
    "number_weakly_connected_components": number_connected_components,
}


class _Backend:
    """What networkx asks of a backend."""

    @staticmethod
    def convert_from_nx(graph: Any, **_: object) -> Graph:
        """Return a graph of this backend."""
        return graph if isinstance(graph, Graph) else Graph(graph)

    @staticmethod
    def convert_to_nx(result: Any, **_: object) -> Any:
        """Return a graph of networkx; other results are the same in both."""
        return result.graph if isinstance(result, Graph) else result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return whether a call is possible, or why it is not."""
        at = {"louvain_communities": 4, "leiden_communities": 3}.get(name)
        if at is None:
            return name in _FUNCTIONS
        given = args[at] if len(args) > at else kwargs.get("max_level")
        return True if given is None else f"`max_level` {_STEPS}"

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return whether a call without ``backend="outcore"`` is worthwhile, or why it is not."""
        graph = args[0] if args else kwargs.get("G")
        graph = graph.graph if isinstance(graph, Graph) else graph
        if name == "leiden_communities" or graph is None or graph.number_of_edges() >= _SMALL:
            return True
        return f"the graph has fewer than {_SMALL:,} edges"


for _name, _function in _FUNCTIONS.items():
    setattr(_Backend, _name, staticmethod(_function))

backend = _Backend()


def info() -> dict[str, Any]:
    """Return the description of the backend for the pages of networkx."""
    more = {
        "memory : str or int": 'Memory limit of the engine, such as ``"4GiB"``.',
        "threads : int": "Maximum number of threads.",
        "work_dir : path": "Directory for temporary files.",
    }
    seeded = "Without a seed, the same graph has the same communities."
    notes = {
        "louvain_communities": f"Modularity by the engine of outcore; `threshold` has no effect. {seeded}",
        "leiden_communities": f"Modularity by the engine of outcore. Every community is connected. {seeded}",
        "label_propagation_communities": "Every community is connected.",
        "asyn_lpa_communities": f"Directions have no effect. Every community is connected. {seeded}",
        "fast_label_propagation_communities": f"Directions have no effect. Every community is connected. {seeded}",
    }
    return {
        "backend_name": "outcore",
        "project": "outcore",
        "package": "outcore",
        "url": "https://github.com/outcore/outcore",
        "short_summary": "Communities and components, within a memory limit.",
        "functions": {
            name: {"additional_docs": notes.get(name, "Components by the engine."), "additional_parameters": more}
            for name in _FUNCTIONS
        },
    }
