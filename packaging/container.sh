#!/usr/bin/env bash
# Builds the images of packaging/Containerfile with the container tool available, and reports the result.
#
#   TARGETS        images to build [static slim]; `slim` is skipped if its base image is unavailable
#   STORAGE        directory for buildah's storage [its default]
set -euo pipefail
source "$(dirname "$0")/common.sh"
install_tools

"$tools/hadolint" packaging/Containerfile
echo 'Containerfile: no faults (hadolint)'

builder=
for candidate in podman docker; do
  command -v $candidate >/dev/null && $candidate info >/dev/null 2>&1 && { builder=$candidate; break; }
done
# buildah needs no service and, with these options, no kernel features.
[[ -n $builder ]] || ! command -v buildah >/dev/null || builder=buildah
if [[ -z $builder ]]; then
  echo 'NOT BUILT: no podman, buildah or running docker found; the Containerfile was only checked'
  exit
fi
archive=$dist/$name.tar.gz
[[ -f $archive ]] || { echo "no $archive: run \`make dist\` first" >&2; exit 1; }

context=$target/packaging/context
rm -rf "$context"
mkdir -p "$context"
tar -xzf "$archive" -C "$context" --strip-components 1

build() { # TARGET
  local options=(--file packaging/Containerfile --target "$1" --tag "outcore:$version-$1" "$context")
  if [[ $builder == buildah ]]; then
    buildah --storage-driver vfs ${STORAGE:+--root "$STORAGE/images" --runroot "$STORAGE/run"} bud --isolation chroot "${options[@]}"
  else
    $builder build "${options[@]}"
  fi
}

for image in ${TARGETS:-static slim}; do
  if build "$image" >"$context.log" 2>&1; then
    echo "built by $builder: outcore:$version-$image"
  elif [[ $image == slim ]] && grep -Eiq 'pull|registry|resolve|short-name' "$context.log"; then
    echo "NOT BUILT: $image, whose base image is unavailable"
  else
    cat "$context.log" >&2
    exit 1
  fi
done
