"""Result of a job on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from outcore._report import Report
from outcore.spark._session import naming_full_disks, place_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Clustered"]

#: Expression for a name as the engine writes it: quoted if it would break the line, or be read as something else.
_QUOTED = """
CASE WHEN cast(node AS string) RLIKE '[\\t\\r]|^["#%]|^//|^--|^[ \\u000C]|[ \\u000C]$'
THEN concat('"', replace(node, '"', '""'), '"') ELSE node END
"""


@dataclass(frozen=True)
class Clustered:
    """Result of a job on Spark.

    Attributes
    ----------
    communities : pyspark.sql.DataFrame
        Table with one row per node, in the order in which nodes first appear in the edges: ``node``, of the type that
        nodes have in the edges, and ``community``, a number from 0, the largest community first. The table is read from
        the work directory when it is used.
    report : Report
        Report of the job.
    """

    communities: DataFrame
    report: Report

    def write(self, path: str, *, format: Literal["tsv", "parquet"] = "tsv", overwrite: bool = False) -> None:
        """Write the communities as a directory of files, in the order of their names.

        Parameters
        ----------
        path : str
            Path or address for Spark: ``hdfs://``, ``s3a://``, or a path that all workers have.
        format : {"tsv", "parquet"}
            Format: lines of ``node<TAB>community``, as the engine writes them, or a table.
        overwrite : bool
            Replace an existing directory.
        """
        place = place_of(self.communities.sparkSession, path)
        writer = self.communities.write.mode("overwrite" if overwrite else "error")
        with naming_full_disks(place):
            if format == "parquet":
                writer.parquet(place)
            else:
                nodes = self.communities.selectExpr(f"concat({_QUOTED}, '\\t', community) AS value")
                nodes.write.mode("overwrite" if overwrite else "error").text(place)

    def __repr__(self) -> str:
        found = self.report["communities"]
        counts = f"{self.report['graph']['node_count']:,} nodes in {found['community_count']:,} communities"
        return f"<Clustered: {counts}, modularity {found['modularity']:.3g}>"
