#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Says what a pull request changes: in the summary of the step, in one comment that is kept up to
# date, and in outputs. All inputs come from the environment: see action.yml, which sets them.
set -euo pipefail

action='winnow diff'
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../workflow.sh
source "$here/../workflow.sh"
# shellcheck source=../comment.sh
source "$here/../comment.sh"

check_inputs() {
  boolean comment "$INPUT_COMMENT"
  boolean plain-http "$INPUT_PLAIN_HTTP"
  [[ $INPUT_ID =~ ^[A-Za-z0-9._-]{1,64}$ ]] || fail "the input id is \"$INPUT_ID\": want letters, digits, ., _ and -, at most 64"
  marker="<!-- winnow diff: $INPUT_ID -->"
  [[ $INPUT_COMMENT == true ]] || return 0
  [[ $INPUT_PULL_REQUEST =~ ^[0-9]+$ ]] || fail "there is no pull request to comment on: run on pull_request, pass its number as the input pull-request, or set the input comment to false"
  # Only what cannot end the header, or begin another one.
  [[ $INPUT_TOKEN =~ ^[A-Za-z0-9._~+/=-]+$ ]] || fail 'the input token is empty, or no token'
  command -v jq >/dev/null && command -v curl >/dev/null || fail 'a comment needs curl and jq'
}

# find_range sets $range. actions/checkout gives the merge of the pull request into its base: its
# first parent is what there is, and the merge what will be. Of any other checkout, it is what the
# head has changed since it left the base.
find_range() {
  local commit first second
  if [[ -z $INPUT_BASE && -n $INPUT_PULL_REQUEST_HEAD ]]; then
    read -r commit first second <<<"$(git rev-list --parents --max-count 1 HEAD)"
    if [[ $second == "$INPUT_PULL_REQUEST_HEAD" ]]; then
      range="$first..$commit"
      return
    fi
  fi
  local base=${INPUT_BASE:-$INPUT_PULL_REQUEST_BASE} head=${INPUT_HEAD:-HEAD}
  [[ -n $base ]] || fail 'compared with what? run on pull_request, or pass the input base'
  range="$base...$head"
}

# compare FORMAT FILE [FLAG...] runs winnow diff. Its exit code is in $code.
compare() {
  local format=$1 file=$2 arguments named
  shift 2
  arguments=(diff --git "$range" --output "$format" "$@")
  [[ $INPUT_PLAIN_HTTP == false ]] || arguments+=(--plain-http)
  [[ -z $INPUT_RECEIPTS ]] || arguments+=("--receipts=$INPUT_RECEIPTS")
  [[ -z $INPUT_CHARTS ]] || arguments+=("--charts=$INPUT_CHARTS")
  lines "$INPUT_REPOSITORY"
  for named in ${lines[@]+"${lines[@]}"}; do arguments+=("--repository=$named"); done
  arguments+=(--)
  lines "$INPUT_PATHS"
  code=0
  "$winnow" "${arguments[@]}" ${lines[@]+"${lines[@]}"} >"$file" 2>"$work/diff.log" || code=$?
}

# number FILTER prints what jq makes of the report.
number() { jq -r "$1" "$report"; }

write_outputs() {
  output exit-code "$code"
  output range "$range"
  [[ -s $report ]] || return 0
  output report "$report"
  output markdown "$body"
  output changed "$(number '[.selections[] | select(.change != "unchanged")] | length')"
  output held "$(number '[.selections[] | select(.held != null and .held.approved != true)] | length')"
  output loosened "$(number '[.selections[] | select((.loosened // [] | length) > 0)] | length')"
  output base-approvals "$(number '[.selections[] | select((.held.baseApprovals // [] | length) > 0)] | length')"
  output risks "$(number '[.selections[].charts // [] | .[] | select(.isFinding or any(.risks[]?; .ignored == null))] | length')"
  output moves "$(number '[.selections[].moves[] | select(.unprotected)] | length')"
  output removed "$(number '[.selections[].counts.removed] | add // 0')"
  output deleted "$(number '[.selections[].counts.deleted] | add // 0')"
  output versions-removed "$(number '[.selections[].counts.versionsRemoved] | add // 0')"
  output not-compared "$(number '([.selections[] | select(.error != null or (.unknown | length) > 0)] | length) + (.unknown // [] | length)')"
}

# write_body makes the text of the comment, marker first.
write_body() {
  {
    printf '%s\n' "$marker"
    if [[ -s $report ]]; then
      printf '## What this changes\n\n'
      cat "$work/diff.md"
    else
      printf '## What this changes cannot be said\n\n'
      indented "$(cat "$work/failure.log")" 10000
    fi
    if ((code > 0)) && [[ -s $report ]]; then
      printf '\n**This fails the check:**\n\n'
      indented "$(cat "$work/failure.log")" 2000
    fi
  } >"$body"
}

main() {
  work=$(mktemp -d "${RUNNER_TEMP:?}/winnow-diff.XXXXXX")
  report=$work/diff.json body=$work/comment.md
  check_inputs
  find_winnow
  find_range
  local flags=()
  [[ -z $INPUT_FAIL_ON ]] || flags=(--fail-on "$INPUT_FAIL_ON")
  # An earlier winnow compares once more for the text.
  [[ $("$winnow" diff --help) != *--markdown* ]] || flags+=("--markdown=$work/diff.md")
  compare json "$report" ${flags[@]+"${flags[@]}"}
  local result=$code
  cp "$work/diff.log" "$work/failure.log"
  if [[ -s $report && ! -s $work/diff.md ]]; then
    compare markdown "$work/diff.md"
    if ((code > 1)); then # gone in between: what was said before is not all
      result=$code
      cp "$work/diff.log" "$work/failure.log"
      : >"$report"
    fi
  fi
  code=$result
  write_body
  summarize <"$body"
  write_outputs
  if ((code > 0)); then
    quote "$work/failure.log"
    complain "winnow diff $range ended with $code; the summary of this run says why"
  fi
  local commented=0
  [[ $INPUT_COMMENT == false ]] || comment "$body" || commented=2
  return "$((code > 0 ? code : commented))"
}

main
