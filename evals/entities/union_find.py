"""Connected components in plain Python: what a script without any package does.

    union_find.py PAIRS.tsv ANSWER.tsv

A dict of parents, with union by size and path halving. Reads the first two columns and writes `id<TAB>component`.
"""

from __future__ import annotations

import gc
import sys


def main() -> None:
    # Nothing here forms cycles.
    gc.disable()
    parents: dict[str, str] = {}
    sizes: dict[str, int] = {}

    def root(node: str) -> str:
        while (parent := parents[node]) != node:
            parents[node] = node = parents[parent]
        return node

    with open(sys.argv[1]) as pairs:
        for line in pairs:
            left, right, _ = line.split("\t", 2)
            # These loops are those of `root`: calls would take longer than everything else.
            if left in parents:
                while (parent := parents[left]) != left:
                    parents[left] = left = parents[parent]
            else:
                parents[left] = left
                sizes[left] = 1
            if right in parents:
                while (parent := parents[right]) != right:
                    parents[right] = right = parents[parent]
            else:
                parents[right] = right
                sizes[right] = 1
            if left != right:
                if sizes[left] < sizes[right]:
                    left, right = right, left
                parents[right] = left
                sizes[left] += sizes.pop(right)

    with open(sys.argv[2], "w") as answer:
        for node in parents:
            answer.write(f"{node}\t{root(node)}\n")


if __name__ == "__main__":
    main()
