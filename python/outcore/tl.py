"""Communities of cells as columns of AnnData: ``outcore.tl.leiden(adata)``, as ``scanpy.tl.leiden(adata)``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from outcore import _anndata
from outcore._api import Method, cluster, values_of
from outcore._communities import Communities
from outcore._outcore import __version__
from outcore._sources import Cells, StrPath
from outcore.errors import _made

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    from anndata import AnnData

__all__ = ["communities", "leiden", "louvain"]

#: Default keys, and what is added to them if only a part of the cells is clustered.
_KEYS = ("leiden", "louvain", "outcore")
_RESTRICTED = "_R"
#: Programs that scanpy can run.
_FLAVORS = {"leiden": ("leidenalg", "igraph"), "louvain": ("vtraag", "igraph", "rapids")}
#: Objectives of leidenalg and louvain-igraph that are that of this package.
_PARTITIONS = ("RBConfigurationVertexPartition", "ModularityVertexPartition")
_OTHER_OBJECTIVE = (
    'use `outcore.tl.communities(adata, "cpm", resolution)` for the constant Potts model, whose resolution is in units '
    "of the mean weight here; other objectives than modularity and `cpm` have no counterpart"
)
_ALL = "leave it out: every cell counts once, and a community grows as far as its objective does"
#: Keywords of `cluster`, or of the programs that scanpy runs, that have another form here, with what to use instead.
_ELSEWHERE = {
    "seed": "use `random_state`, as in scanpy",
    **dict.fromkeys(
        (
            *("output", "output_header", "summary", "levels", "flow"),
            *("representatives", "prefer", "keep", "drop", "heights"),
        ),
        "use `outcore.cluster(adata, ...)`, whose result has it",
    ),
    **dict.fromkeys(("two_mode", "names", "columns", "format", "delimiter", "comment", "header"), "leave it out"),
    **dict.fromkeys(("initial_membership", "membership"), "use `initial`, a file of cells and their groups"),
    **dict.fromkeys(("weights", "graph"), "use `adjacency` or `obsp`"),
    **dict.fromkeys(("node_sizes", "node_weights", "max_comm_size"), _ALL),
    "beta": "leave it out: groups are merged where that is best, not at random",
    "resolution_parameter": "use `resolution`",
}
#: Keywords of files of names: with them, nodes have the names of cells.
_NAMED = ("fixed", "initial", "match", "nodes")


def leiden(
    adata: AnnData | StrPath,
    resolution: float | Iterable[float] = 1,
    *,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    random_state: int = 0,
    key_added: str = "leiden",
    adjacency: Any = None,
    directed: bool | None = None,
    use_weights: bool = True,
    n_iterations: int = -1,
    partition_type: type | None = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    copy: bool = False,
    flavor: Literal["leidenalg", "igraph"] | None = None,
    stability: bool = False,
    **options: Any,
) -> AnnData | pd.DataFrame | None:
    """Find groups of cells by modularity, in the place of ``scanpy.tl.leiden``.

    The graph, the keywords, the column and its categories are those of scanpy: the connectivities of
    ``scanpy.pp.neighbors``, and a categorical column of ``"0"``, ``"1"`` and so on, the largest group first.

    Parameters
    ----------
    adata : AnnData or path
        Cells with a graph, which ``scanpy.pp.neighbors(adata)`` makes. Of the path of an ``.h5ad`` file, only the graph
        is read, in batches.
    resolution : float or iterable of float
        Resolution of modularity: larger values give more groups. Several values give a column each, named by the key
        and the value, ``leiden_0.5``, as if each were given alone. Groups that are nested, from one reading of the
        graph, are those of ``outcore.cluster(adata, resolution=[0.5, 1])``.
    restrict_to : tuple of str and sequence of str, optional
        Column of ``adata.obs`` and those of its categories whose cells are clustered; the other cells keep theirs. A
        new group is named by them and its number: ``"3,0"``.
    random_state : int
        Seed of all random choices. The same seed gives the same groups on every machine.
    key_added : str
        Key of the column in ``adata.obs`` and of the parameters in ``adata.uns``. If only some cells are clustered,
        ``_R`` is added to the default, as scanpy does.
    adjacency : matrix, optional
        Graph to use instead, with a row for each cell.
    directed : bool, optional
        Keep the direction of edges. Connectivities are symmetric, so that this changes nothing for them.
    use_weights : bool
        Use the weights of the graph; otherwise every edge counts 1.
    n_iterations : int
        Maximum number of passes up the levels and back, if positive: `cycles` of :func:`outcore.cluster`, whose
        default the others stand for.
    partition_type : type, optional
        Class of leidenalg for modularity, as scanpy passes on; others are refused.
    neighbors_key : str, optional
        Key in ``adata.uns`` that names the connectivities, as in ``scanpy.pp.neighbors(adata, key_added=...)``.
    obsp : str, optional
        Key of another graph in ``adata.obsp``.
    copy : bool
        Return a copy with the columns, instead of adding them to `adata`.
    flavor : {"leidenalg", "igraph"}, optional
        Program that scanpy would run. Here all values give the same groups.
    stability : bool
        Also add a column ``leiden_stability``: for each cell the share of the starts in which it stays with its group.
        This takes more time, since all starts are compared in full.
    **options
        Further keywords of :func:`outcore.cluster`, such as `memory`, `trials`, `max_size` or `match`.

    Returns
    -------
    AnnData, pandas.DataFrame or None
        None; a copy if `copy` is true; of a path the columns, with the names of cells, because files are not changed.

    Raises
    ------
    outcore.UsageError
        If the cells have no graph, or a key does not exist; it says which there are. If a keyword of scanpy has no
        counterpart; it says what to use instead.

    Examples
    --------
    >>> import anndata, numpy, outcore.tl
    >>> adata = anndata.AnnData(numpy.zeros((4, 1)))
    >>> adata.obsp["connectivities"] = numpy.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> outcore.tl.leiden(adata, flavor="igraph", n_iterations=2, directed=False)
    >>> adata.obs["leiden"].tolist()
    ['0', '0', '1', '1']
    >>> adata.uns["leiden"]["modularity"]
    0.5
    """
    _check_objective("leiden", flavor, partition_type, options.pop("objective_function", None))
    if isinstance(n_iterations, bool) or not isinstance(n_iterations, Integral) or n_iterations == 0:
        hint = "use `n_iterations=2`, or -1 for the default"
        raise _refused(f"`n_iterations` is a whole number other than 0, not {n_iterations!r:.60}", hint)
    if n_iterations > 0:
        options = {"cycles": int(n_iterations), **options}
    return communities(
        adata,
        "modularity",
        resolution,
        restrict_to=restrict_to,
        random_state=random_state,
        key_added=key_added,
        adjacency=adjacency,
        neighbors_key=neighbors_key,
        obsp=obsp,
        copy=copy,
        stability=stability,
        **_graph_options(directed, use_weights),
        **options,
    )


def louvain(
    adata: AnnData | StrPath,
    resolution: float | Iterable[float] | None = None,
    *,
    random_state: int = 0,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    key_added: str = "louvain",
    adjacency: Any = None,
    flavor: Literal["vtraag", "igraph", "rapids"] | None = None,
    directed: bool | None = None,
    use_weights: bool = False,
    partition_type: type | None = None,
    partition_kwargs: Mapping[str, Any] | None = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    copy: bool = False,
    **options: Any,
) -> AnnData | pd.DataFrame | None:
    """Find groups of cells by modularity, in the place of ``scanpy.tl.louvain``.

    As there, weights are not used by default; all else is as for :func:`leiden`.

    Parameters
    ----------
    adata : AnnData or path
        Cells with a graph; see :func:`leiden`.
    resolution : float or iterable of float, optional
        Resolution of modularity, 1 by default.
    random_state, restrict_to, adjacency, directed, neighbors_key, obsp, copy, **options
        See :func:`leiden`.
    key_added : str
        Key of the column in ``adata.obs`` and of the parameters in ``adata.uns``.
    flavor : {"vtraag", "igraph", "rapids"}, optional
        Program that scanpy would run. Here all values give the same groups.
    use_weights : bool
        Use the weights of the graph; otherwise every edge counts 1.
    partition_type, partition_kwargs : optional
        Class for modularity, as scanpy passes on, and no further settings of it; others are refused.

    Returns
    -------
    AnnData, pandas.DataFrame or None
        See :func:`leiden`.

    Examples
    --------
    >>> import anndata, numpy, outcore.tl
    >>> adata = anndata.AnnData(numpy.zeros((4, 1)))
    >>> adata.obsp["connectivities"] = numpy.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> outcore.tl.louvain(adata)
    >>> adata.obs["louvain"].tolist()
    ['0', '0', '1', '1']
    """
    _check_objective("louvain", flavor, partition_type, None)
    return communities(
        adata,
        "modularity",
        resolution,
        restrict_to=restrict_to,
        random_state=random_state,
        key_added=key_added,
        adjacency=adjacency,
        neighbors_key=neighbors_key,
        obsp=obsp,
        copy=copy,
        **_graph_options(directed, use_weights),
        **(partition_kwargs or {}),
        **options,
    )


def communities(
    adata: AnnData | StrPath,
    method: Method,
    resolution: float | Iterable[float] | None = None,
    *,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    random_state: int = 0,
    key_added: str = "outcore",
    adjacency: Any = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    copy: bool = False,
    stability: bool = False,
    **options: Any,
) -> AnnData | pd.DataFrame | None:
    """Find groups of cells by any method of :func:`outcore.cluster`.

    Parameters
    ----------
    adata : AnnData or path
        Cells with a graph; see :func:`leiden`.
    method : {"map-equation", "modularity", "cpm", "label-propagation", "components"}
        Objective or algorithm.
    resolution : float or iterable of float, optional
        Resolution of modularity or of the constant Potts model.
    key_added : str
        Key of the column in ``adata.obs`` and of the parameters in ``adata.uns``.
    restrict_to, random_state, adjacency, neighbors_key, obsp, copy, stability, **options
        See :func:`leiden`.

    Returns
    -------
    AnnData, pandas.DataFrame or None
        See :func:`leiden`.

    Examples
    --------
    >>> import anndata, numpy, outcore.tl
    >>> adata = anndata.AnnData(numpy.zeros((3, 1)))
    >>> adata.obsp["connectivities"] = numpy.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> outcore.tl.communities(adata, "components", key_added="parts")
    >>> adata.obs["parts"].tolist()
    ['0', '0', '1']
    """
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        raise _refused(f"`random_state` is a whole number, not {random_state!r:.60}", "use `random_state=0`")
    for name in options:
        if name in _ELSEWHERE:
            raise _refused(f"`{name}` is not a keyword of `outcore.tl`", _ELSEWHERE[name])
    values = values_of("resolution", resolution)
    for name in ("attenuation", "min_weight"):
        if values_of(name, options.get(name)) is not None:
            hint = "call it once for each value, with a `key_added` of its own"
            raise _refused(f"`{name}` takes one number here, since columns are named by `resolution`", hint)
    path = os.fspath(adata) if isinstance(adata, (str, os.PathLike)) else None
    whole: Any = adata
    if path is not None:
        _check_path(path, adjacency, restrict_to)
    else:
        _check_object(whole, adjacency, obsp, neighbors_key)
        whole = whole.copy() if copy else whole
    cells = Cells(path or whole, neighbors_key, obsp, adjacency)
    chosen = None
    if restrict_to is not None:
        key, categories = restrict_to
        chosen = _restricted(whole, key, categories)
        if key_added in _KEYS:
            key_added += _RESTRICTED
        cells = _part(cells, chosen)
    if not any(options.get(name) is not None for name in _NAMED):
        # Numbers of rows take less time than names, and names may repeat.
        cells = replace(cells, is_named=False)
    settings = {
        "method": method,
        "random_state": int(random_state),
        "version": __version__,
        "neighbors_key": neighbors_key,
        "obsp": obsp,
        "restrict_to": None if restrict_to is None else [restrict_to[0], *restrict_to[1]],
        "stability": stability,
        **options,
    }
    results: dict[str, tuple[Any, Communities]] = {}
    for value in [resolution] if values is None else values:
        one: Any = value
        found = cluster(cells, method=method, resolution=one, seed=int(random_state), stability=stability, **options)
        results[key_added if values is None else f"{key_added}_{_number(one)}"] = one, found
    columns: dict[str, Any] = {}
    for name, (_, result) in results.items():
        columns[name] = _column(result.labels, whole, restrict_to, chosen)
        if stability:
            columns[f"{name}_stability"] = _spread(result.stability, chosen)
    if path is not None:
        return _frame(columns, path)
    for name, column in columns.items():
        whole.obs[name] = column
    for name, (value, result) in results.items():
        whole.uns[name] = _recorded(result, {**settings, "resolution": value})
    return whole if copy else None


def _check_objective(function: str, flavor: object, partition_type: Any, objective: object) -> None:
    """Refuse what would make scanpy optimize another objective than modularity."""
    if flavor is not None and flavor not in _FLAVORS[function]:
        listed = " or ".join(f'"{name}"' for name in _FLAVORS[function])
        raise _refused(f"`flavor` is {listed}, not {flavor!r:.60}", "leave it out: all give the same groups here")
    name = getattr(partition_type, "__name__", str(partition_type))
    if partition_type is not None and name not in _PARTITIONS:
        raise _refused(f"`partition_type={name}` is another objective than modularity", _OTHER_OBJECTIVE)
    if objective is not None and str(objective).lower() != "modularity":
        raise _refused(f"`objective_function={objective!r:.60}` is another objective than modularity", _OTHER_OBJECTIVE)


def _graph_options(directed: bool | None, use_weights: bool) -> dict[str, Any]:
    """Return how scanpy reads the graph, as keywords of `cluster`."""
    options = {"directed": directed, "ignore_weights": not use_weights}
    return {name: True for name, is_on in options.items() if is_on}


def _refused(message: str, hint: str) -> BaseException:
    """Return the error for a keyword."""
    return _made({"kind": "usage", "message": message, "hint": hint})


def _check_path(path: str, adjacency: Any, restrict_to: object) -> None:
    """Check that a path is that of a file, and that nothing is asked for that needs the object."""
    if not _anndata.is_file(path):
        there = "is not the name of an `.h5ad` file" if os.path.exists(path) else "does not exist"
        raise _refused(f"`{path}` {there}", "pass an AnnData object, or the path of an `.h5ad` file")
    for name, value in (("adjacency", adjacency), ("restrict_to", restrict_to)):
        if value is not None:
            hint = "pass the object: `anndata.read_h5ad(path)`"
            raise _refused(f"`{name}` is not available for a file", hint)


def _check_object(adata: Any, adjacency: Any, obsp: str | None, neighbors_key: str | None) -> None:
    if not _anndata.is_anndata(adata):
        message = f"`adata` is an AnnData object or a path, not an object of type `{type(adata).__name__}`"
        raise _refused(message, "use `outcore.cluster` for a matrix or a graph")
    if adjacency is None:
        return
    if obsp is not None or neighbors_key is not None:
        raise _refused("`adjacency` is the graph, so `obsp` and `neighbors_key` have no effect", "leave them out")
    shape = getattr(adjacency, "shape", None)
    if shape != (adata.n_obs, adata.n_obs):
        message = f"`adjacency` has the shape {shape}, but there are {adata.n_obs} cells"
        raise _refused(message, "pass a matrix with a row and a column for each cell")


def _restricted(adata: Any, key: str, categories: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which cells are in some categories of a column."""
    import numpy as np
    import pandas as pd

    if key not in adata.obs:
        listed = ", ".join(f"`{name}`" for name in adata.obs) or "nothing"
        raise _refused(f"`adata.obs` has no column `{key}`, but {listed}", "use `restrict_to` with one of these")
    column = adata.obs[key]
    if not isinstance(column.dtype, pd.CategoricalDtype):
        hint = f'convert it: `adata.obs["{key}"] = adata.obs["{key}"].astype("category")`'
        raise _refused(f"the column `{key}` has no categories", hint)
    known = [str(name) for name in column.cat.categories]
    if isinstance(categories, str) or not categories or not all(isinstance(name, str) for name in categories):
        message = f"`restrict_to` takes a list of categories as text, not {categories!r:.60}"
        raise _refused(message, f'use `restrict_to=("{key}", ["{known[0] if known else "0"}"])`')
    for name in categories:
        if name not in known:
            listed = ", ".join(f"`{each}`" for each in known)
            raise _refused(f"the column `{key}` has no category `{name}`", f"its categories are {listed}")
    return np.asarray(column.isin(list(categories)), dtype=bool)


def _part(cells: Cells, chosen: npt.NDArray[np.bool_]) -> Cells:
    """Return the graph of some of the cells."""
    matrix = cells.adjacency
    if matrix is None:
        matrix = _anndata.chosen(cells.adata, cells.neighbors_key, cells.obsp)
    if hasattr(matrix, "tocsr"):
        matrix = matrix.tocsr()
    return Cells(cells.adata[chosen], adjacency=matrix[chosen, :][:, chosen])


def _spread(values: Any, chosen: npt.NDArray[np.bool_] | None) -> Any:
    """Return a value for every cell: NaN for those that were not clustered."""
    import numpy as np

    if chosen is None:
        return values
    whole = np.full(len(chosen), np.nan)
    whole[chosen] = values
    return whole


def _column(
    labels: npt.NDArray[np.int64],
    adata: Any,
    restrict_to: tuple[str, Sequence[str]] | None,
    chosen: npt.NDArray[np.bool_] | None,
) -> Any:
    """Return labels as categories in the order of scanpy: text, in which numbers are in their order."""
    import numpy as np
    import pandas as pd

    numbers, codes = np.unique(labels, return_inverse=True)
    if restrict_to is None or chosen is None:
        # A cell that `min_size` left out has no group.
        left = int((numbers < 0).sum())
        return pd.Categorical.from_codes(codes - left, categories=pd.Index([str(number) for number in numbers[left:]]))
    key, categories = restrict_to
    prefix = "-".join(categories)
    groups = adata.obs[key].astype(object).to_numpy(copy=True)
    named = np.array([f"{prefix},{number}" if number >= 0 else None for number in numbers.tolist()], dtype=object)
    groups[chosen] = named[codes]
    present = {str(name) for name in pd.unique(groups) if isinstance(name, str) or not pd.isna(name)}
    texts = [name if name is None or pd.isna(name) else str(name) for name in groups]
    return pd.Categorical(texts, categories=sorted(present, key=_natural))


def _natural(name: str) -> list[Any]:
    """Return the key of a name by which `2` is before `10`."""
    parts = re.split(r"(\d+)", name)
    return [int(part) if at % 2 else part for at, part in enumerate(parts)]


def _number(value: float) -> str:
    """Return a number as text, which is short if that is exact."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _frame(columns: Mapping[str, Any], path: str) -> pd.DataFrame:
    import pandas as pd

    with _anndata.opened(path) as file:
        return pd.DataFrame(columns, index=_anndata.names_of(file))


def _recorded(found: Communities, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is recorded of a result: values that a file of AnnData holds."""
    reported: dict[str, Any] = found.report["communities"]
    params = {name: _plain(value) for name, value in settings.items() if value is not None}
    scores = {name: reported.get(name) for name in ("modularity", "code_length")}
    return {
        "params": params,
        "community_count": found.community_count,
        **{name: float(value) for name, value in scores.items() if value is not None},
    }


def _plain(value: Any) -> Any:
    """Return a value that a file of AnnData holds: a number, text or a list of text."""
    if isinstance(value, Communities):
        return value.path
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [str(part) for part in value]
    return str(value)
