#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Measures with nothing cached: cold.sh [TARGET...], by default the first result, the whole demo, make build after it, and
# the demo again. Home and caches are in an empty directory; modules are read from GOMODCACHE, and with DOWNLOAD=1
# downloaded as well. It prints the seconds of each target, of all its processes.
set -eu

cd "$(dirname "$0")/../.."
home=$(mktemp -d)
trap 'chmod -R u+w "$home"; rm -rf "$home"' EXIT
trap 'exit 130' INT TERM
modules=$(go env GOMODCACHE)
[ -z "${DOWNLOAD:-}" ] || modules=$home/modules
export HOME="$home" GOCACHE="$home/go-build" XDG_CACHE_HOME="$home/cache" GOMODCACHE="$modules"
unset STACK_BIN KUBEBUILDER_ASSETS GOFLAGS
rm -rf bin

[ $# -gt 0 ] || set -- demo-files demo build demo
for target; do
  echo "== make $target"
  # shellcheck disable=SC2016 # the inner shell expands them
  time -p sh -c 'exec make "$2" >"$1" 2>&1' sh "$home/out" "$target" || { tail -n 50 "$home/out"; exit 1; }
  grep -E '^    (built in|done after) ' "$home/out" || true
done
[ -z "${DOWNLOAD:-}" ] || du -sh "$modules/cache/download"
