"""Graphs of cells: the connectivities of an AnnData object, or of an ``.h5ad`` file, which is read in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from outcore.errors import _made

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["StoredRows", "chosen", "is_anndata", "is_file", "is_stored", "names_of", "opened", "stored"]

#: Entries of a matrix on disk that are read at once.
_BATCH = 1 << 16
_RUN_NEIGHBORS = "run `sc.pp.neighbors(adata)` first"


def is_anndata(source: object) -> bool:
    """Return whether an object is an AnnData object."""
    return _has_class(source, "AnnData")


def is_stored(source: object) -> bool:
    """Return whether an object is a sparse matrix on disk, as AnnData opens it."""
    return _has_class(source, "BaseCompressedSparseDataset")


def _has_class(source: object, name: str) -> bool:
    """Return whether an object is of a class of AnnData, which need not be installed."""
    classes = type(source).__mro__
    return any(one.__name__ == name and one.__module__.partition(".")[0] == "anndata" for one in classes)


def is_file(path: str) -> bool:
    """Return whether a path is that of a file of AnnData."""
    return path.lower().endswith(".h5ad") and os.path.isfile(path)


def _unusable(message: str, hint: str) -> BaseException:
    return _made({"kind": "usage", "message": message, "hint": hint})


def chosen(adata: Any, neighbors_key: str | None = None, obsp: str | None = None) -> Any:
    """Return the connectivities of an AnnData object, or of the groups of its file, as scanpy chooses them."""
    matrices, more = adata.obsp if hasattr(adata, "obsp") else adata.get("obsp", {}), _uns(adata)
    if obsp is not None and neighbors_key is not None:
        raise _unusable("`obsp` and `neighbors_key` both select the graph", "use one of them")
    if obsp is not None:
        if obsp not in matrices:
            raise _unusable(f"`adata.obsp` has no `{obsp}`, but {_listed(matrices)}", "use `obsp` with one of these")
        return matrices[obsp]
    key = "connectivities"
    found: Any = None
    if neighbors_key is None or neighbors_key == "neighbors":
        found = more.get("neighbors")
    elif neighbors_key in more:
        found = more[neighbors_key]
        if "connectivities_key" not in found:
            message = f"`adata.uns[{neighbors_key!r}]` does not name connectivities"
            raise _unusable(message, f'run `sc.pp.neighbors(adata, key_added="{neighbors_key}")` first')
        key = _text(found["connectivities_key"])
    else:
        hint = f'run `sc.pp.neighbors(adata, key_added="{neighbors_key}")` first'
        raise _unusable(f"`adata.uns` has no `{neighbors_key}`, but {_listed(more)}", hint)
    if key in matrices:
        return matrices[key]
    # Old files have the matrix beside the parameters.
    if found is not None and "connectivities" in found:
        return found["connectivities"]
    raise _unusable(f"the cells have no graph: `adata.obsp` has no `{key}`, but {_listed(matrices)}", _RUN_NEIGHBORS)


def _uns(adata: Any) -> Any:
    return adata.uns if hasattr(adata, "uns") else adata.get("uns", {})


def _listed(names: Any) -> str:
    """Return the keys of a mapping for a message."""
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def _text(value: Any) -> str:
    """Return text, which in a file is a dataset without dimensions."""
    value = value[()] if hasattr(value, "shape") else value
    return value.decode() if isinstance(value, bytes) else str(value)


def names_of(adata: Any) -> list[str]:
    """Return the names of the cells of an AnnData object, or of its file; no two are the same."""
    if hasattr(adata, "obs_names"):
        names = [str(name) for name in adata.obs_names]
    else:
        obs = adata["obs"]
        index = _text(obs.attrs.get("_index", "_index")) if hasattr(obs, "keys") else None
        # Old files have a table with the column `index`.
        column = obs[index].asstr()[:] if index is not None else obs["index"]
        names = [name.decode() if isinstance(name, bytes) else str(name) for name in column]
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise _made(
            {
                "kind": "bad-input",
                "message": f"several cells have the name `{twice}`, but a name is that of one node",
                "hint": "run `adata.obs_names_make_unique()` first, or pass the matrix alone: "
                '`adata.obsp["connectivities"]`',
            }
        )
    return names


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a file of AnnData for reading."""
    try:
        import h5py
    except ImportError as error:
        raise _unusable(
            f"reading `{path}` needs h5py", "install it: `pip install 'outcore[cells]'`, or `pip install h5py`"
        ) from error
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        hint = "check that `anndata.read_h5ad` can read it"
        raise _made(
            {"kind": "corrupt-file", "message": f"`{path}` is not a file of AnnData: {error}", "hint": hint}
        ) from error
    with file:
        yield file


class StoredRows:
    """Square sparse matrix in a file, by rows; only the ends of the rows are in memory.

    Attributes
    ----------
    shape : tuple of int
        Numbers of rows and columns.
    nnz : int
        Number of entries.
    indptr : numpy.ndarray
        Where the entries of each row begin, and those of the last one end.
    indices, data : dataset
        Columns and values of the entries, which are read when they are sliced.
    """

    def __init__(self, group: Any) -> None:
        kind = group.attrs.get("encoding-type", group.attrs.get("h5sparse_format")) if hasattr(group, "attrs") else None
        if kind is None or not _text(kind).startswith("csr"):
            found = "a dense matrix" if not hasattr(group, "keys") else f"a matrix of the kind `{_text(kind)}`"
            raise _unusable(
                f"the graph in the file is {found}, which cannot be read by rows",
                "load the file: `outcore.cluster(anndata.read_h5ad(path))`",
            )
        shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
        self.shape: tuple[int, int] = (int(shape[0]), int(shape[1]))
        self.indptr: npt.NDArray[np.int64] = group["indptr"][:].astype("int64")
        self.indices: Any = group["indices"]
        self.data: Any = group["data"]
        self.nnz = int(self.indptr[-1])
        if self.shape[0] != self.shape[1] or self.data.dtype.kind not in "biuf":
            raise _unusable(
                f"the graph in the file is a matrix of {self.shape[0]} x {self.shape[1]} of `{self.data.dtype}`, "
                "but one of connectivities is square, of numbers",
                "select another one with `outcore.tl.leiden(path, obsp=...)`",
            )

    def is_symmetric(self) -> bool:
        """Return whether the entries above the diagonal are those below it, in one pass over the file.

        Two sums of 64 bits over the entries on each side are compared, which depend on rows, columns and values but not
        on the order. The chance that they are equal for a matrix that is not symmetric is about 2 to the power of -128.
        """
        import numpy as np

        sums = np.zeros((2, 2), dtype=np.uint64)
        for at in range(0, self.nnz, _BATCH):
            end = min(at + _BATCH, self.nnz)
            source = rows_between(self.indptr, at, end).astype(np.uint64)
            target = self.indices[at:end].astype(np.uint64)
            # An entry of 0 is not an edge. It has the bits of 0 also if it is negative.
            weight = self.data[at:end].astype(np.float64) + 0.0
            bits = weight.view(np.uint64)
            for side, chosen in enumerate((source < target, source > target)):
                kept = chosen & (weight != 0)
                pair = (source, target) if side == 0 else (target, source)
                low, high = (ends[kept] for ends in pair)
                for which, factor in enumerate((0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)):
                    # Arrays of one number wrap around without a warning.
                    sums[side, which : which + 1] += _mixed(low, high, bits[kept], np.uint64(factor)).sum(
                        dtype=np.uint64
                    )
        return bool((sums[0] == sums[1]).all())


def _mixed(low: Any, high: Any, bits: Any, factor: Any) -> Any:
    """Return a number of 64 bits for each entry of a matrix, in which every bit of the entry changes about half."""
    mixed = low
    for more in (high, bits, factor):
        mixed = (mixed ^ (mixed >> 30)) * factor + more
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB
        mixed ^= mixed >> 31
    return mixed


def rows_between(indptr: npt.NDArray[np.int64], at: int, end: int) -> npt.NDArray[np.int64]:
    """Return the row of each entry from `at` to `end`, exclusive, of a matrix by rows."""
    import numpy as np

    first = int(np.searchsorted(indptr, at, side="right")) - 1
    last = int(np.searchsorted(indptr, end, side="left"))
    bounds = np.clip(indptr[first : last + 1], at, end)
    return np.repeat(np.arange(first, last, dtype=np.int64), bounds[1:] - bounds[:-1])


def stored(source: Any) -> StoredRows:
    """Return a sparse matrix on disk, of a group of a file or as AnnData opens it, for reading by rows."""
    return StoredRows(source.group if is_stored(source) else source)
