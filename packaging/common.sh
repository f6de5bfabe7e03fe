# Sourced by the scripts in this directory: paths and names.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
dist=${DIST:-$PWD/dist}
profile=${PROFILE:-dist}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=outcore-$version-x86_64-linux
tools=$target/packaging-tools/bin
# All files get the time of the commit.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C

say() { printf '\n== %s\n' "$*"; }

# Installs the pinned tools in a virtual environment.
install_tools() {
  local stamp=$target/packaging-tools/installed
  cmp -s packaging/requirements.txt "$stamp" && return
  python3 -m venv --clear "$target/packaging-tools"
  "$tools/python" -m pip install --quiet --disable-pip-version-check -r packaging/requirements.txt
  cp packaging/requirements.txt "$stamp"
}

# Prints the size of a file in MB, with two decimals.
megabytes() { awk -v bytes="$(stat -c %s "$1")" 'BEGIN { printf "%.2f", bytes / 1000000 }'; }
