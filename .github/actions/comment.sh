# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# One comment on a pull request, which is found again by a marker and kept up to date. To be
# sourced after workflow.sh.

# GitHub keeps 2,500 comments of an issue at most.
readonly comments_per_page=100 max_pages=30

# api METHOD PATH [FILE] asks GitHub, with the content of the file as the body of the request. The
# answer is in the file $answer, and its status in $status: 000 if there is none. The token is
# handed over on standard input, because all processes of a machine see the arguments of others.
api() {
  local method=$1 path=$2
  local arguments=(--silent --show-error --max-time 60 --request "$method")
  if [[ $method == GET ]]; then
    arguments+=(--retry 2 --retry-delay 1) # a second POST could make a second comment
  fi
  if (($# > 2)); then
    arguments+=(--data-binary "@$3" --header 'Content-Type: application/json')
  fi
  status=$(printf 'header = "Authorization: Bearer %s"\n' "$INPUT_TOKEN" |
    curl --config - "${arguments[@]}" --header 'Accept: application/vnd.github+json' \
      --header 'X-GitHub-Api-Version: 2022-11-28' --output "$answer" --write-out '%{http_code}' \
      "${GITHUB_API_URL:?}$path" 2>"$work/curl.log") || status=000
}

# refuse WHAT says what GitHub did not do, and what may help.
refuse() {
  local why advice='run the job again'
  why=$(jq -r '.message // empty' "$answer" 2>/dev/null | head -c 500) || why=
  case $status in
    000) why=$(head -c 500 "$work/curl.log") ;;
    401) advice='the token is not valid, or has expired' ;;
    403) advice='the job needs the permission "pull-requests: write", and the pull request of a fork never gets it: set the input comment to false there' ;;
    404) advice="is there a pull request $INPUT_PULL_REQUEST in $GITHUB_REPOSITORY, and may the token read it?" ;;
    422) advice='GitHub does not take the comment as it is' ;;
  esac
  complain "$1: GitHub answers $status${why:+ ($why)}; $advice. The result is in the summary of this run."
  return 1
}

# find_comment sets $found to the id and $same to whether the comment has the content of a file
# already. Only comments of the input comment-author count: anybody can write the marker into
# theirs, and edit it after the job did.
find_comment() {
  local page all
  found='' same=false
  for ((page = 1; page <= max_pages; page++)); do
    api GET "/repos/$GITHUB_REPOSITORY/issues/$INPUT_PULL_REQUEST/comments?per_page=$comments_per_page&page=$page"
    [[ $status == 200 ]] || { refuse "finding the comment" || return 1; }
    all=$(jq -r --arg marker "$marker" --arg author "$INPUT_COMMENT_AUTHOR" --rawfile body "$1" '
      def text: split("\r") | join("") | sub("\\s+$"; "");
      [.[] | select(.user.login == $author and (.body // "" | startswith($marker)))][0] as $mine
      | "\(length) \($mine.id // "") \($mine != null and ($mine.body | text) == ($body | text))"' "$answer") ||
      { complain "finding the comment: what GitHub answers is no list of comments" && return 1; }
    read -r all found same <<<"${all/  / - }"
    [[ $found == - ]] || return 0
    found=''
    ((all == comments_per_page)) || return 0
  done
  complain "finding the comment: the pull request has more than $((max_pages * comments_per_page)) comments"
  return 1
}

# comment FILE posts the file, or updates the comment that was posted before.
comment() {
  local request=$work/request.json
  answer=$work/answer.json
  : >"$answer"
  find_comment "$1" || return 1
  if [[ $same == true ]]; then
    echo 'The comment is up to date.'
    return 0
  fi
  jq -n --rawfile body "$1" '{body: $body}' >"$request"
  if [[ -n $found ]]; then
    api PATCH "/repos/$GITHUB_REPOSITORY/issues/comments/$found" "$request"
    [[ $status == 200 ]] || { refuse 'updating the comment' || return 1; }
    echo 'The comment is updated.'
    return 0
  fi
  api POST "/repos/$GITHUB_REPOSITORY/issues/$INPUT_PULL_REQUEST/comments" "$request"
  [[ $status == 201 ]] || { refuse 'posting the comment' || return 1; }
  echo 'The comment is posted.'
}
