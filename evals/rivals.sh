#!/usr/bin/env bash
# Installs the programs that the evals compare with, outside the repository. Run it again after a failure: what is
# there already is left as it is.
#
#   RIVALS=DIR evals/rivals.sh        default: ${TMPDIR:-/tmp}/outcore-rivals
#
# Needs cargo, python3 with venv, a C++ compiler with OpenMP, and STXXL's headers and library (Debian: libstxxl-dev).
# BUILD_JOBS limits the compilers that run at once.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rivals=${RIVALS:-${TMPDIR:-/tmp}/outcore-rivals}
webgraph_version='^0.5'
duckdb_version='>=2.0,<3'
export CARGO_BUILD_JOBS=${BUILD_JOBS:-$(nproc)}

say() { printf 'rivals: %s\n' "$*" >&2; }

mkdir -p "$rivals/bin"
rivals=$(cd "$rivals" && pwd)

if [[ ! -x $rivals/bin/webgraph ]]; then
    say "webgraph-cli $webgraph_version"
    cargo install webgraph-cli --locked --version "$webgraph_version" --root "$rivals" \
        --target-dir "$rivals/build/webgraph"
fi

if [[ ! -x $rivals/bin/extsort-sort || $here/sort/extsort/src/main.rs -nt $rivals/bin/extsort-sort ]]; then
    say 'extsort'
    cargo build --release --locked --manifest-path "$here/sort/extsort/Cargo.toml" \
        --target-dir "$rivals/build/extsort"
    install "$rivals/build/extsort/release/extsort-sort" "$rivals/bin/extsort-sort"
fi

if [[ ! -x $rivals/bin/stxxl_sort || $here/sort/stxxl_sort.cpp -nt $rivals/bin/stxxl_sort ]]; then
    say 'STXXL'
    if [[ ! -e /usr/include/stxxl/sorter ]]; then
        if [[ $(id -u) != 0 ]] || ! command -v apt-get > /dev/null; then
            say 'STXXL is missing: install its development files (Debian: apt-get install libstxxl-dev)'
            exit 1
        fi
        apt-get update -qq
        apt-get install -y -qq libstxxl-dev
    fi
    # Without NDEBUG the checks inside STXXL's templates make it about three times slower.
    "${CXX:-g++}" -std=c++17 -O3 -march=native -DNDEBUG -fopenmp -w \
        -o "$rivals/bin/stxxl_sort" "$here/sort/stxxl_sort.cpp" -lstxxl -lpthread
fi

if ! "$rivals/venv/bin/python" -c 'import duckdb' 2> /dev/null; then
    say "DuckDB $duckdb_version"
    python3 -m venv "$rivals/venv"
    "$rivals/venv/bin/pip" install --quiet "duckdb$duckdb_version"
fi

say "ready"
printf 'webgraph %s\n' "$("$rivals/bin/webgraph" --version 2> /dev/null | head -n 1)"
"$rivals/venv/bin/python" -c 'import duckdb; print("duckdb", duckdb.__version__)'
