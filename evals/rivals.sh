#!/usr/bin/env bash
# Installs the programs that the evals compare with, outside the repository. Can be repeated after a failure: complete
# installations are left unchanged.
#
#   RIVALS=DIR evals/rivals.sh [PART ..]        default: ${TMPDIR:-/tmp}/outcore-rivals
#
# The parts, all of them by default:
#
#   webgraph   webgraph-rs             for rivals-ingest: cargo
#   extsort    extsort                 for sort: cargo
#   stxxl      STXXL                   for sort: a C++ compiler with OpenMP, STXXL (Debian: libstxxl-dev)
#   duckdb     DuckDB                  for rivals-ingest and sort: python3 with venv
#   python     Infomap, leidenalg ..   for quality/methods.py, speed-quality and rivals-cluster: python3 with venv
#
# BUILD_JOBS limits the number of parallel compilers.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rivals=${RIVALS:-${TMPDIR:-/tmp}/outcore-rivals}
webgraph_version='^0.5'
duckdb_version='>=2.0,<3'
export CARGO_BUILD_JOBS=${BUILD_JOBS:-$(nproc)}

say() { printf 'rivals: %s\n' "$*" >&2; }

install_webgraph() {
    if [[ ! -x $rivals/bin/webgraph ]]; then
        say "webgraph-cli $webgraph_version"
        cargo install webgraph-cli --locked --version "$webgraph_version" --root "$rivals" \
            --target-dir "$rivals/build/webgraph"
    fi
    printf 'webgraph %s\n' "$("$rivals/bin/webgraph" --version 2> /dev/null | head -n 1)"
}

install_extsort() {
    if [[ ! -x $rivals/bin/extsort-sort || $here/sort/extsort/src/main.rs -nt $rivals/bin/extsort-sort ]]; then
        say 'extsort'
        cargo build --release --locked --manifest-path "$here/sort/extsort/Cargo.toml" \
            --target-dir "$rivals/build/extsort"
        install "$rivals/build/extsort/release/extsort-sort" "$rivals/bin/extsort-sort"
    fi
}

install_stxxl() {
    if [[ -x $rivals/bin/stxxl_sort && ! $here/sort/stxxl_sort.cpp -nt $rivals/bin/stxxl_sort ]]; then
        return
    fi
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
}

# Installs packages into the rivals' own Python unless all modules exist, and prints their versions.
python_packages() {
    local modules=$1
    shift
    if ! "$rivals/venv/bin/python" -c "import $modules" 2> /dev/null; then
        say "$*"
        [[ -x $rivals/venv/bin/python ]] || python3 -m venv "$rivals/venv"
        "$rivals/venv/bin/pip" install --quiet "$@"
    fi
    "$rivals/venv/bin/python" -W ignore -c "import $modules
for module in ($modules,): print(module.__name__, module.__version__)"
}

install_duckdb() {
    python_packages duckdb "duckdb$duckdb_version"
}

# Results of a rival may change with its version: the first two numbers are fixed.
install_python() {
    python_packages 'numpy, sklearn, igraph, leidenalg, infomap, networkit' \
        'numpy>=2,<3' 'scikit-learn>=1.9,<2' 'igraph>=1.0,<1.1' 'leidenalg>=0.12,<0.13' 'infomap>=2.16,<2.17' \
        'networkit>=11.2,<11.3'
}

parts=(webgraph extsort stxxl duckdb python)
if [[ $# == 0 ]]; then
    set -- "${parts[@]}"
fi
for part in "$@"; do
    if ! declare -F "install_$part" > /dev/null; then
        say "unknown part $part: one of ${parts[*]}"
        exit 2
    fi
done

mkdir -p "$rivals/bin"
rivals=$(cd "$rivals" && pwd)
for part in "$@"; do
    "install_$part"
done
say "ready"
