#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Lints a catalog and publishes it in a registry, and says in the summary and the outputs what was
# published. All inputs come from the environment: see action.yml, which sets them.
set -euo pipefail

action='winnow push'
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../workflow.sh
source "$here/../workflow.sh"

check_inputs() {
  boolean plain-http "$INPUT_PLAIN_HTTP"
  [[ -d $INPUT_CATALOG ]] || fail "the input catalog is \"$INPUT_CATALOG\": there is no such directory"
  boolean push "$INPUT_PUSH"
  [[ -n $INPUT_REPOSITORY || $INPUT_PUSH == false ]] || fail 'where to? the input repository is empty'
  case $INPUT_FAIL_ON in
    error | warning) ;;
    *) fail "the input fail-on is \"$INPUT_FAIL_ON\": want error or warning" ;;
  esac
  plain=()
  [[ $INPUT_PLAIN_HTTP == false ]] || plain=(--plain-http)
}

# inspect_commit sets $revision and SOURCE_DATE_EPOCH to what the catalog comes from. What is not in
# a commit would be published under the name of one: that is refused, unless the job names the
# revision itself.
inspect_commit() {
  local commit changes
  revision=$INPUT_REVISION
  commit=$(git -C "$INPUT_CATALOG" rev-parse --verify --quiet HEAD) || {
    [[ -n $revision ]] || fail "$INPUT_CATALOG is in no commit: check it out, or pass the input revision"
    warn "$INPUT_CATALOG is in no commit: there is no date of creation, unless SOURCE_DATE_EPOCH is set"
    return 0
  }
  changes=$(git -C "$INPUT_CATALOG" status --porcelain --untracked-files=all -- . | head -n 20)
  if [[ -n $changes && -n $revision ]]; then
    warn "$INPUT_CATALOG has changes that are in no commit:"$'\n'"$changes"
  elif [[ -n $changes ]]; then
    fail "$INPUT_CATALOG has changes that are in no commit; commit them, or pass the input revision:"$'\n'"$changes"
  fi
  if [[ -z $revision ]]; then
    revision="sha1:$commit"
    [[ $commit != "${GITHUB_SHA:-}" ]] || revision="${GITHUB_REF_NAME:?}@$revision"
  fi
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$INPUT_CATALOG" log -1 --format=%ct)}
  export SOURCE_DATE_EPOCH
}

# lint prints annotations, which is the one output that the runner shall read.
lint() {
  local code=0
  "$winnow" lint --output github --fail-on "$INPUT_FAIL_ON" -- "$INPUT_CATALOG" 2>"$work/lint.log" || code=$?
  quote "$work/lint.log"
  ((code == 0)) || refuse "$code" lint.log
}

# refuse CODE LOG ends the job.
refuse() {
  { printf '## Refused\n\n' && indented "$(cat "$work/$2")" 10000; } | summarize
  complain "winnow ended with $1; the summary of this run says why"
  exit "$1"
}

push() {
  local code=0 one arguments=(push --revision "$revision")
  [[ -z $INPUT_SOURCE_URL ]] || arguments+=(--source-url "$INPUT_SOURCE_URL")
  lines "$INPUT_TAGS"
  for one in ${lines[@]+"${lines[@]}"}; do arguments+=(--tag "$one"); done
  lines "$INPUT_ANNOTATIONS"
  for one in ${lines[@]+"${lines[@]}"}; do arguments+=(--annotation "$one"); done
  arguments+=(${plain[@]+"${plain[@]}"} -- "$INPUT_CATALOG" "$INPUT_REPOSITORY")
  reference=$("$winnow" "${arguments[@]}" 2>"$work/push.log") || code=$?
  quote "$work/push.log"
  ((code == 0)) || refuse "$code" push.log
  digest=${reference##*@}
  [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || fail "winnow push printed no digest: \"$reference\""
}

summary() {
  printf '## Published\n\n'
  indented "$(printf '%-10s %s\n' reference "$reference" revision "$revision" created "${SOURCE_DATE_EPOCH:-unknown}")" 4000
  indented "$(cat "$work/push.log")" 10000
  printf 'A pull request that takes it names the digest.\n'
}

main() {
  work=$(mktemp -d "${RUNNER_TEMP:?}/winnow-publish.XXXXXX")
  check_inputs
  find_winnow
  if [[ $INPUT_PUSH == false ]]; then
    lint
    return
  fi
  inspect_commit
  lint
  push
  output reference "$reference"
  output digest "$digest"
  output revision "$revision"
  summary | summarize
  echo "$reference"
}

main
