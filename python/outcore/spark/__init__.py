"""The same communities on Apache Spark, for graphs that one machine cannot hold.

>>> import outcore.spark
>>> found = outcore.spark.cluster(edges, method="label-propagation", work_dir="hdfs:///tmp/karate")  # doctest: +SKIP
>>> found.communities.show()  # doctest: +SKIP

Spark reads, numbers, sorts, moves and writes; the engine's own code works on each part of the graph. The communities of
label propagation and of components are those that :func:`outcore.cluster` finds for the same rows, byte for byte.
Modularity and the map equation are divided between Spark and the engine, with communities about as good as its own.
Memory of a task: about 5 bytes an arc of its part, 8 for each node that it knows, and 0.31 for every node of the graph;
for the map equation also 84 for each community that its nodes see, for modularity 52.
"""

from __future__ import annotations

from outcore.spark._cluster import Clustered, cluster
from outcore.spark._plan import plan

__all__ = ["Clustered", "cluster", "plan"]
