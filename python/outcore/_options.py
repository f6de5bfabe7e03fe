"""Types of the keywords of :func:`outcore.cluster`, for its overloads: one result, or one for each of some values."""

from __future__ import annotations

from typing import Literal, TypedDict

from outcore._api import Columns, CommunityFormat, EdgeFormat, Method
from outcore._communities import Communities
from outcore._progress import ProgressOption
from outcore._sources import StrPath

__all__ = ["ClusterOptions"]


class ClusterOptions(TypedDict, total=False):
    """Keywords except those that overloads differ in; a test compares them with the function."""

    output: StrPath | None
    method: Method
    seed: int
    max_size: int | None
    well_connected: bool | str | int | None
    initial: Communities | StrPath | None
    seeding: Literal["star", "own"] | None
    cycles: int | None
    trials: int | None
    stability: bool
    levels: bool
    recorded_teleportation: bool
    max_sweeps: int | None
    tolerance: float | None
    converge: bool
    format: EdgeFormat
    columns: Columns | None
    delimiter: str | None
    comment: str | None
    header: Literal["auto", "yes", "no"]
    on_bad_line: Literal["stop", "skip"]
    rejects: StrPath | None
    duplicates: Literal["sum", "max", "min", "first"]
    self_loops: Literal["keep", "drop"]
    directed: bool
    two_mode: bool
    names: Literal["labels", "numbers"] | None
    ignore_weights: bool
    weight_transform: Literal["none", "log", "neglog10", "reciprocal", "similarity"]
    max_weight: float | None
    normalize: Literal["none", "self-score"]
    nodes: StrPath | None
    attenuation_rule: Literal["hops", "change"] | None
    label_cutoff: float | None
    max_visits: int | Literal["root-degree"] | None
    fixed: Communities | StrPath | None
    like: Literal["exolabel"] | None
    min_size: int
    small: Literal["drop", "singletons"]
    match: Communities | StrPath | None
    representatives: StrPath | None
    prefer: StrPath | None
    keep: StrPath | None
    drop: StrPath | None
    heights: StrPath | None
    summary: StrPath | bool | None
    community_columns: Columns | None
    community_format: CommunityFormat
    flow: bool
    output_header: bool
    memory: str | int
    threads: int | None
    work_dir: StrPath | None
    profile: StrPath | None
    restart: bool
    progress: ProgressOption
