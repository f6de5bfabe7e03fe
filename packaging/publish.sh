#!/usr/bin/env bash
# Publishes the files of `make dist`: `packaging/publish.sh crates|python|files`. Only for the release workflow.
set -euo pipefail
source "$(dirname "$0")/common.sh"
(cd "$dist" && sha256sum --quiet --check SHA256SUMS)
case ${1:-} in
crates) # Cargo publishes in dependency order; the packages equal those of `dist`, because the sources are the same.
  cargo publish --workspace --exclude xtask --exclude=outcore-{bind,py,r} --locked ;;
python)
  install_tools
  "$tools/twine" upload --non-interactive "$dist"/*.whl "$dist/outcore-$version.tar.gz" ;;
files)
  gh release create "v$version" --verify-tag --title "outcore $version" --notes-file CHANGELOG.md "$dist"/* ;;
*)
  echo 'Usage: packaging/publish.sh crates|python|files' >&2
  exit 2 ;;
esac
