#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Builds winnow from the checkout that this action is part of, so that the ref of the action is the
# version of the binary. Writes the path of the binary to GITHUB_ENV, for the next step.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${RUNNER_TEMP:?}/winnow-bin/winnow
cd "$root"
# Neither a go.work nor flags of the job that uses the action are for this build.
GOWORK=off GOFLAGS=-buildvcs=false CGO_ENABLED=0 go build -trimpath -o "$target" ./cmd/winnow
printf 'WINNOW_BUILT=%s\n' "$target" >>"${GITHUB_ENV:?}"
