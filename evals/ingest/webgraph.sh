#!/usr/bin/env bash
# Builds a graph with webgraph-rs: from text edges with string names to a BV graph and a list of names.
#
#   webgraph.sh EDGES.tsv DIR NODES [THREADS]
#
# Does less than the whole job: one direction only, no weights, and the number of nodes must be known beforehand.
set -euo pipefail

edges=$1
dir=$2
nodes=$3
threads=${4:-2}
rivals=${RIVALS:-${TMPDIR:-/tmp}/outcore-rivals}

# The memory limit is for the batches of arcs; the map of names comes on top and has no limit.
TMPDIR=$dir exec "$rivals/bin/webgraph" from arcs --labels --separator $'\t' --num-nodes "$nodes" \
    --num-threads "$threads" --memory-usage 1GiB "$dir/graph" < "$edges"
