#!/usr/bin/env bash
# Creates all release files from a clean clone of HEAD, installs each in an empty environment, and tests it.
# The variables are those of dist.sh, and
#
#   PYTHONS   interpreters in which the wheel is tested [3.10 and the newest installed]
#   TMPDIR    directory in which all of this happens
#
# Lines that begin with `NOT CHECKED` list what cannot be checked on this machine.
set -euo pipefail
source "$(dirname "$0")/common.sh"
repository=$PWD
GRAPH=tests/graphs/string-yeast-physical.txt.gz
COMMAND_MB=18 WHEEL_MB=8 LEAST_MB=5

work=$(mktemp -d "${TMPDIR:-/tmp}/outcore-dist.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
unchecked=0
too_large=()
passed=0

ok() { passed=$((passed + 1)); echo "ok: $*"; }
failed() { echo "FAILED: $*" >&2; exit 1; }
not_checked() { unchecked=$((unchecked + 1)); echo "NOT CHECKED: $*"; }
at_most() { # MB FILE WHAT
  if [[ $profile != dist ]]; then
    not_checked "size of the $3: $(megabytes "$2") MB with profile \`$profile\`, which is not the release profile"
    return
  fi
  if (($(stat -c %s "$2") <= $1 * 1000000)); then
    ok "$3: $(megabytes "$2") MB, at most $1"
  else
    # Reported again at the end: files that are too large can still be tested.
    too_large+=("$3: $(megabytes "$2") MB, at most $1")
    echo "TOO LARGE: ${too_large[-1]}"
  fi
}

# Runs a command with a directory as its root.
in_empty_root() {
  if ((EUID == 0)); then chroot "$@"; else unshare --user --map-root-user chroot "$@"; fi
}

test_sums() {
  say 'checksums'
  (cd "$dist" && sha256sum --quiet --check SHA256SUMS)
  [[ $(ls "$dist" | wc -l) == $(($(wc -l <"$dist/SHA256SUMS") + 1)) ]] || failed 'SHA256SUMS lacks a file'
  ok 'every file has its checksum'
}

test_archive() {
  say 'archive'
  local root=$work/root stage=$work/$name page shell
  tar -xzf "$dist/$name.tar.gz" -C "$work"
  tar -xzf "$dist/$name.debug.tar.gz" -C "$work"
  at_most $COMMAND_MB "$stage/outcore" 'command with all features'
  if readelf -lW "$stage/outcore" | grep -q INTERP; then failed 'the command needs a loader'; fi
  ! readelf -SW "$stage/outcore" | grep -Eq '\.(symtab|debug_(info|line))' || failed 'the command is not stripped'
  ok 'the command is static and stripped'
  if [[ $profile == dist ]]; then
    readelf -SW "$work/$name.debug/outcore.debug" | grep -q '\.debug_line' || failed 'the debug file has no line numbers'
    ok 'the debug file has line numbers'
  else
    not_checked "line numbers of the debug file: the profile \`$profile\` has none"
  fi

  cargo build --locked --release --package outcore-cli --all-features
  local ordinary=$target/release/outcore
  "$ordinary" cluster "$GRAPH" --duplicates max -o "$work/expected.tsv" --quiet
  mkdir -p "$root/out"
  cp "$stage/outcore" "$GRAPH" "$root"
  in_empty_root "$root" /outcore cluster "/$(basename "$GRAPH")" --duplicates max -o /out/found.tsv
  cmp "$work/expected.tsv" "$root/out/found.tsv" || failed 'different communities in an empty root'
  [[ $(ls -A "$root/out") == found.tsv && ! -e $root/tmp && ! -e $root/proc ]] || failed 'files other than the result are left behind'
  ok 'an empty root, without /proc and /tmp: same bytes as the ordinary build'

  for page in outcore outcore-cluster outcore-lab-tune; do
    [[ -s $stage/man/man1/$page.1 ]] || failed "manual page $page is missing"
  done
  if command -v groff >/dev/null; then
    for page in "$stage"/man/man1/*.1; do
      [[ -z $(groff -man -ww -z -Tutf8 "$page" 2>&1) ]] || failed "$page: $(groff -man -ww -z -Tutf8 "$page" 2>&1)"
    done
    ok "$(ls "$stage/man/man1" | wc -l) manual pages without groff warnings"
  else
    not_checked 'manual pages: groff is not installed'
  fi

  bash -c 'set -e; source "$1/completions/outcore.bash"; complete -p outcore; COMP_WORDS=(outcore clu); COMP_CWORD=1
    _outcore outcore clu outcore; [[ ${COMPREPLY[*]} == cluster ]]' - "$stage" || failed 'completions in bash'
  ok 'bash completes `outcore clu`'
  for shell in zsh fish; do
    if ! command -v $shell >/dev/null; then
      not_checked "completions in $shell, which is not installed"
    else
      $shell -n "$stage/completions/outcore.$shell" && ok "$shell reads its completions"
    fi
  done

  cp "$dist/$name.tar.gz" "$work/first.tar.gz"
  DIST=$dist packaging/dist.sh archive >/dev/null
  cmp "$work/first.tar.gz" "$dist/$name.tar.gz" || failed 'packing again gives a different archive'
  ok 'packing again gives the same bytes'
}

test_least() {
  say 'text-only command'
  if ! grep -q '^default = ' crates/outcore-cli/Cargo.toml; then
    not_checked 'the text-only command: outcore-cli has no features to leave out'
    return
  fi
  local built
  built=$(packaging/dist.sh least | tail -n 1)
  objcopy --strip-all "$built" "$work/least"
  at_most $LEAST_MB "$work/least" 'text-only command'
  "$work/least" cluster "$GRAPH" --duplicates max -o "$work/least.tsv" --quiet
  cmp "$work/expected.tsv" "$work/least.tsv" || failed 'different communities from the text-only command'
  ok 'text-only command: the same communities'
}

# Prints the oldest supported Python and the newest one installed.
pythons() {
  if [[ -n ${PYTHONS:-} ]]; then
    echo "$PYTHONS"
    return
  fi
  local found
  found=$(ls -d /usr/bin/python3.[0-9]* /usr/local/bin/python3.[0-9]* "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3.[0-9]* \
    2>/dev/null | grep -E '/python3\.[0-9]+$' | awk -F/ '{ split($NF, at, "."); print at[2], $0 }' | sort -n)
  { grep '^10 ' <<<"$found" | head -n 1; tail -n 1 <<<"$found"; } | cut -d' ' -f2 | uniq
}

test_wheel() {
  say 'wheel'
  local wheel python venv tested=0
  wheel=$(ls "$dist"/*.whl)
  at_most $WHEEL_MB "$wheel" "$(basename "$wheel")"
  for python in $(pythons); do
    venv=$work/$(basename "$python")
    "$python" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
    "$venv/bin/outcore" cluster "$GRAPH" --duplicates max -o "$work/wheel.tsv" --quiet
    cmp "$work/expected.tsv" "$work/wheel.tsv" || failed "different communities from the wheel in $python"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$wheel[test]"
    # Without the tests of Spark, which need Java, and of the documentation site; `make test` runs both.
    "$venv/bin/python" -m pytest -p no:cacheprovider --ignore-glob '*test_spark*' --deselect tests/python/test_docs.py \
      || failed "tests fail in $python"
    ok "$("$venv/bin/python" --version): installs alone, gives the same communities, passes the tests"
    tested=$((tested + 1))
  done
  ((tested)) || not_checked 'the wheel: no Python 3.10 or later'
}

test_sdist() {
  say 'source distribution'
  local venv=$work/sdist
  python3 -m venv "$venv"
  (cd "$work" && env -u RUSTFLAGS CARGO_TARGET_DIR="$target/sdist" \
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$dist/outcore-$version.tar.gz")
  "$venv/bin/outcore" cluster "$GRAPH" --duplicates max -o "$work/sdist.tsv" --quiet
  cmp "$work/expected.tsv" "$work/sdist.tsv" || failed 'different communities from the source distribution'
  for file in Cargo.lock LICENSE-MIT LICENSE-APACHE README.md; do
    tar -tzf "$dist/outcore-$version.tar.gz" "outcore-$version/$file" >/dev/null || failed "$file is missing"
  done
  ok 'the source distribution builds in a bare environment'
}

test_crates() {
  say 'crates'
  # Compiles each crate from its package, with the packages of the others.
  cargo package --workspace --exclude xtask --exclude=outcore-{bind,py,r} --locked
  for crate in outcore-{io,sort,graph,input,cluster} outcore outcore-{page,lab,remote,cli}; do
    for file in README.md LICENSE-MIT LICENSE-APACHE; do
      tar -tzf "$dist/$crate-$version.crate" "$crate-$version/$file" >/dev/null || failed "$crate: $file is missing"
    done
  done
  ok 'crates compile from their packages'
}

test_r() {
  say 'source package of R'
  local package=$dist/outcore_$version.tar.gz
  if ! command -v R >/dev/null; then
    not_checked 'the package of R, which is not installed'
    return
  fi
  (cd "$work" && _R_CHECK_FORCE_SUGGESTS_=false R CMD check --as-cran --no-manual "$package") || failed 'R CMD check'
  ! grep -Eq 'WARNING|ERROR' "$work/outcore.Rcheck/00check.log" || failed 'R CMD check has warnings'
  ok "R CMD check: $(tail -n 2 "$work/outcore.Rcheck/00check.log" | head -n 1)"
}

test_sbom() {
  say 'bill of materials'
  "$tools/python" packaging/sbom.py --check "$dist/outcore-$version.cdx.json"
  ok 'the bill of materials is valid'
}

test_recipes() {
  say 'workflows and recipes'
  "$tools/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
  local recipe
  for recipe in packaging/conda*/recipe.yaml; do
    "$tools/python" -c 'import sys, ruamel.yaml as yaml; assert yaml.YAML(typ="safe").load(open(sys.argv[1]))["about"]["license"]' "$recipe"
  done
  ok 'workflows are valid, the conda recipes are YAML'
  not_checked 'building the conda recipes, which needs conda'
}

test_container() {
  say 'container'
  local report
  report=$(DIST=$dist STORAGE=$work/containers packaging/container.sh)
  echo "$report"
  while read -r line; do not_checked "$line"; done < <(sed -n 's/^NOT BUILT: //p' <<<"$report")
  ok 'the Containerfile has no faults, and available images are built'
}

git clone --quiet --no-hardlinks "$repository" "$work/clone"
git -C "$work/clone" checkout --quiet --detach "$(git rev-parse HEAD)"
cd "$work/clone"
# Earlier build output is used only if the caller sets CARGO_TARGET_DIR.
target=${CARGO_TARGET_DIR:-$work/clone/target}
dist=$work/clone/dist
tools=$target/packaging-tools/bin
make dist
for step in ${*:-sums archive least wheel sdist crates r sbom recipes container}; do
  "test_$step"
done
say 'release files'
ls -l "$dist" | awk 'NR > 1 { printf "%12d  %s\n", $5, $NF }'
echo "test-dist: $passed checks passed, $unchecked not possible here"
if ((${#too_large[@]})); then
  printf 'TOO LARGE: %s\n' "${too_large[@]}" >&2
  exit 1
fi
