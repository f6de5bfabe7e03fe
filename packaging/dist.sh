#!/usr/bin/env bash
# Creates the release files in dist/: `packaging/dist.sh [STEP...]`, by default all steps in order.
#
#   PROFILE         Cargo profile [dist]; `release` compiles in a fraction of the time
#   STATIC_TARGET   x86_64-unknown-linux-musl or -gnu, for the static command [musl if rustup has it and
#                   a C compiler for it is installed]
#   COMPATIBILITY   oldest Linux that the wheel supports [manylinux_2_28]
set -euo pipefail
source "$(dirname "$0")/common.sh"

static_target() {
  if [[ -n ${STATIC_TARGET:-} ]]; then
    echo "$STATIC_TARGET"
  elif command -v musl-gcc >/dev/null && [[ -d $(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-musl/lib ]]; then
    echo x86_64-unknown-linux-musl
  else
    echo x86_64-unknown-linux-gnu
  fi
}

# Prints the flags of every build: no home directory in release files. Paths of this repository are relative already.
flags() { printf '%s' "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"; }

# Builds the static command and prints its path. Arguments are passed to `cargo build`.
static_command() {
  local triple
  triple=$(static_target)
  # Packed relocations take a twentieth of the bytes; a static command contains the code that applies them.
  RUSTFLAGS="$(flags) -C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs" \
    cargo build --locked --profile "$profile" --target "$triple" --package outcore-cli --target-dir "$target/packaging" "$@" >&2
  echo "$target/packaging/$triple/$profile/outcore"
}

# Packs a directory into an archive that depends only on its content.
pack() { # DIRECTORY ARCHIVE
  tar --create --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode='u=rwX,go=rX' --directory "$(dirname "$1")" "$(basename "$1")" | gzip -9n >"$2"
}

step_archive() {
  say "$name.tar.gz: the static command ($(static_target)), its manual pages and completions"
  local built stage=$target/packaging/stage/$name debug=$target/packaging/stage/$name.debug shell
  built=$(static_command --all-features)
  rm -rf "$stage" "$debug"
  mkdir -p "$stage/completions" "$debug"
  objcopy --only-keep-debug "$built" "$debug/outcore.debug"
  objcopy --strip-all --remove-section=.comment "$built" "$stage/outcore"
  (cd "$debug" && objcopy --add-gnu-debuglink=outcore.debug "$stage/outcore")
  "$stage/outcore" man --dir "$stage/man/man1"
  for shell in bash zsh fish powershell elvish; do
    "$stage/outcore" completions "$shell" >"$stage/completions/outcore.$shell"
  done
  cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$stage"
  pack "$stage" "$dist/$name.tar.gz"
  pack "$debug" "$dist/$name.debug.tar.gz"
}

step_wheel() {
  say 'wheel'
  RUSTFLAGS=$(flags) PATH=$tools:$PATH "$tools/maturin" build --locked --profile "$profile" --zig \
    --features remote --compatibility "${COMPATIBILITY:-manylinux_2_28}" \
    --target-dir "$target/packaging" --out "$dist"
}

step_sdist() {
  say 'source distribution'
  "$tools/maturin" sdist --out "$dist"
  "$tools/twine" check --strict "$dist"/*.whl "$dist"/outcore-"$version".tar.gz
}

step_crates() {
  say 'crates'
  local changed=() crate
  [[ -z $(git status --porcelain) ]] || { echo 'note: the working tree has uncommitted changes'; changed=(--allow-dirty); }
  cargo package --workspace --exclude xtask --exclude=outcore-{bind,py,r} --no-verify --locked "${changed[@]}" \
    --target-dir "$target/packaging"
  for crate in outcore-{io,sort,graph,input,cluster} outcore outcore-{page,lab,remote,cli}; do
    cp "$target/packaging/package/$crate-$version.crate" "$dist"
  done
}

# The source package of R, with the crates that it needs, and vignettes if what they need is installed.
step_r() {
  say 'source package of R'
  if ! command -v R >/dev/null; then
    echo 'note: R is not installed, so its package is left out'
    return
  fi
  local stage=$target/packaging/stage/r/outcore file args=()
  rm -rf "$stage"
  while read -r file; do
    install -D -m "$([[ -x $file ]] && echo 755 || echo 644)" "$file" "$stage/${file#r/}"
  done < <(git ls-files r)
  cp LICENSE-APACHE "$stage/inst/"
  "$tools/python" packaging/r_engine.py "$stage/src/rust"
  Rscript -e 'quit(status = !all(sapply(c("knitr", "rmarkdown", "Matrix"), requireNamespace, quietly = TRUE)))' ||
    args=(--no-build-vignettes)
  (cd "$dist" && R CMD build "${args[@]}" "$stage")
}

step_sbom() {
  say 'bill of materials'
  "$tools/python" packaging/sbom.py "$dist/outcore-$version.cdx.json"
}

step_sums() {
  say 'SHA256SUMS'
  local sums
  rm -f "$dist/SHA256SUMS"
  sums=$(cd "$dist" && sha256sum -- *)
  echo "$sums" | tee "$dist/SHA256SUMS"
}

# Builds the text-only command, without servers, tables and the laboratory, and prints its path.
step_least() { static_command --no-default-features; }

install_tools >&2
mkdir -p "$dist"
if (($# == 0)); then
  rm -rf "${dist:?}"/*
  set -- archive wheel sdist crates r sbom sums
fi
for step in "$@"; do
  "step_$step"
done
