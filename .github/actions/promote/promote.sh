#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Opens a pull request that promotes a digest from one stage to others, and keeps it up to date. It
# names no loss: what the promotion would lose is held by the check of the pull request. All inputs
# come from the environment: see action.yml, which sets them.
set -euo pipefail

action='winnow promote'
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../workflow.sh
source "$here/../workflow.sh"
# shellcheck source=../comment.sh
source "$here/../comment.sh"

check_inputs() {
  boolean plain-http "$INPUT_PLAIN_HTTP"
  git check-ref-format --branch "$INPUT_BRANCH" >/dev/null 2>&1 || fail "the input branch is \"$INPUT_BRANCH\": that is no name of a branch"
  git check-ref-format --branch "$INPUT_BASE" >/dev/null 2>&1 || fail "the input base is \"$INPUT_BASE\": that is no name of a branch"
  [[ $INPUT_BRANCH != "$INPUT_BASE" ]] || fail "the inputs branch and base are both \"$INPUT_BASE\""
  [[ $INPUT_FROM != *$'\n'* && -n $INPUT_FROM && $INPUT_FROM != -* ]] || fail "the input from is \"$INPUT_FROM\": want one stage"
  # Only what cannot end the header, or begin another one.
  [[ $INPUT_TOKEN =~ ^[A-Za-z0-9._~+/=-]+$ ]] || fail 'the input token is empty, or no token'
  command -v jq >/dev/null && command -v curl >/dev/null || fail 'a pull request needs curl and jq'
  [[ -z $(git status --porcelain) ]] || fail 'the checkout has changes that are in no commit'
}

# check_receipts sets $fine to whether every cluster of the stage before runs its digest, by the receipts.
check_receipts() {
  local arguments=(fleet --fail-on=any) code=0
  fine=true
  [[ -n $INPUT_RECEIPTS ]] || return 0
  [[ -z $INPUT_NAME ]] || arguments+=("--name=$INPUT_NAME")
  [[ $INPUT_PLAIN_HTTP == false ]] || arguments+=(--plain-http)
  "$winnow" "${arguments[@]}" -- "$INPUT_RECEIPTS" "$INPUT_FROM" >"$work/fleet.txt" 2>&1 || code=$?
  quote "$work/fleet.txt"
  ((code > 0)) || return 0
  fine=false
  { printf '## Not promoted\n\n' && indented "$(cat "$work/fleet.txt")" 10000; } | summarize
  if ((code > 1)); then
    complain "winnow fleet ended with $code; the summary of this run says why"
    exit "$code"
  fi
}

# promote writes the digest, and sets $promoted and $digest.
promote() {
  local arguments=(promote --git --output markdown) one code=0
  [[ -z $INPUT_NAME ]] || arguments+=("--name=$INPUT_NAME")
  [[ -z $INPUT_RECEIPTS ]] || arguments+=("--receipts=$INPUT_RECEIPTS")
  [[ -z $INPUT_MIN_AGE ]] || arguments+=("--min-age=$INPUT_MIN_AGE")
  [[ $INPUT_PLAIN_HTTP == false ]] || arguments+=(--plain-http)
  lines "$INPUT_REPOSITORY"
  for one in ${lines[@]+"${lines[@]}"}; do arguments+=("--repository=$one"); done
  lines "$INPUT_TO"
  "$winnow" "${arguments[@]}" -- "$INPUT_FROM" ${lines[@]+"${lines[@]}"} >"$work/promote.md" 2>"$work/promote.log" || code=$?
  quote "$work/promote.log"
  promoted=false
  if [[ -n $(git status --porcelain) ]]; then
    promoted=true
    digest=$(sed -n 's/^.* to \(sha[0-9]*:[0-9a-f]*\)$/\1/p' "$work/promote.log" | head -n 1)
    [[ -n $digest ]] || fail 'winnow promote printed no digest'
  elif ((code > 1)); then
    { printf '## Not promoted\n\n' && indented "$(cat "$work/promote.log")" 10000; } | summarize
    complain "winnow promote ended with $code; the summary of this run says why"
    exit "$code"
  fi
}

write_body() {
  {
    printf 'Promotes `%s` from `%s`.\n\n' "$digest" "$INPUT_FROM"
    cat "$work/promote.md"
  } >"$body"
}

# push_branch pushes the promotion, unless the branch has it already: reviewers add lines there.
push_branch() {
  local remote='' file all=true
  git fetch --quiet origin "+refs/heads/$INPUT_BRANCH:refs/remotes/origin/$INPUT_BRANCH" 2>/dev/null &&
    remote=$(git rev-parse "refs/remotes/origin/$INPUT_BRANCH")
  while IFS= read -r -d '' file; do
    [[ -n $remote ]] && git show "$remote:$file" 2>/dev/null | grep --quiet --fixed-strings -- "digest: $digest" || all=false
  done < <(git diff --name-only -z)
  if [[ $all == true ]]; then
    echo 'The branch has this promotion already.'
    return
  fi
  git checkout --quiet -B "$INPUT_BRANCH"
  git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
    commit --quiet --all --message "Promote ${digest:0:19} from $INPUT_FROM"
  git push --quiet --force-with-lease="refs/heads/$INPUT_BRANCH:$remote" origin "HEAD:refs/heads/$INPUT_BRANCH"
}

# open_pull_request opens the pull request of the branch, or updates its text, and sets $number.
open_pull_request() {
  local request=$work/request.json owner=${GITHUB_REPOSITORY%%/*}
  answer=$work/answer.json
  : >"$answer"
  api GET "/repos/$GITHUB_REPOSITORY/pulls?state=open&head=$owner:$INPUT_BRANCH&base=$INPUT_BASE"
  [[ $status == 200 ]] || { refuse 'finding the pull request' || return 2; }
  number=$(jq -r '.[0].number // empty' "$answer")
  jq -n --rawfile body "$body" --arg title "Promote ${digest:0:19} from $INPUT_FROM" --arg head "$INPUT_BRANCH" --arg base "$INPUT_BASE" \
    '{title: $title, body: $body, head: $head, base: $base}' >"$request"
  if [[ -n $number ]]; then
    api PATCH "/repos/$GITHUB_REPOSITORY/pulls/$number" "$request"
    [[ $status == 200 ]] || { refuse 'updating the pull request' || return 2; }
    return
  fi
  api POST "/repos/$GITHUB_REPOSITORY/pulls" "$request"
  [[ $status == 201 ]] || { refuse 'opening the pull request' || return 2; }
  number=$(jq -r .number "$answer")
}

main() {
  work=$(mktemp -d "${RUNNER_TEMP:?}/winnow-promote.XXXXXX")
  # For messages about what GitHub answers.
  INPUT_PULL_REQUEST="of $INPUT_BRANCH"
  body=$work/pull-request.md
  check_inputs
  find_winnow
  check_receipts
  if [[ $fine == false ]]; then
    output promoted false
    return
  fi
  promote
  output promoted "$promoted"
  if [[ $promoted == false ]]; then
    { printf '## Nothing to promote\n\n' && indented "$(cat "$work/promote.log")" 10000; } | summarize
    return
  fi
  write_body
  summarize <"$body"
  output digest "$digest"
  output markdown "$body"
  push_branch
  open_pull_request
  output pull-request "$number"
  echo "The pull request is $number."
}

main
