"""Find communities on Apache Spark, in graphs that one machine cannot hold.

>>> import outcore.spark
>>> found = outcore.spark.cluster(edges, method="label-propagation", work_dir="hdfs:///tmp/karate")  # doctest: +SKIP
>>> found.communities.show()  # doctest: +SKIP

Spark reads, numbers, sorts, moves and writes; the code of the engine processes each part of the graph. Label
propagation and components give the communities that :func:`outcore.cluster` finds for the same rows, byte for byte. For
modularity and the map equation the work is divided between Spark and the engine, and the communities are about as good
as those of the engine alone. Memory of a task: about 5 bytes per arc of its part, 8 per node that it knows, and 0.31
per node of the graph; also 84 per community that its nodes see for the map equation, and 52 for modularity.
"""

from __future__ import annotations

from outcore.spark._cluster import Clustered, cluster
from outcore.spark._plan import plan

__all__ = ["Clustered", "cluster", "plan"]
