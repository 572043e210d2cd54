# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash
# How the scripts of the actions talk to the runner: outputs, summary, messages. To be sourced.

# escape prints a text as the data of a workflow command, in which % and line ends have a meaning.
escape() {
  local text=$1
  text=${text//'%'/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '%s' "$text"
}

# complain prints a message that the run shows at its top. Others than GitHub read it as well.
complain() { printf '::error title=%s::%s\n' "$action" "$(escape "$1")"; }

warn() { printf '::warning title=%s::%s\n' "$action" "$(escape "$1")"; }

# fail says what is wrong with the usage of the action, in the summary too.
fail() {
  complain "$1"
  { printf '**%s:** the action is not set up right.\n\n' "$action" && indented "$1" 4000; } | summarize
  exit 2
}

# output NAME VALUE sets an output, a line.
output() {
  case $2 in
    *$'\n'* | *$'\r'*) complain "the output $1 would have several lines" && exit 2 ;;
  esac
  printf '%s=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:?}"
}

# summarize adds its input to the summary of the step.
summarize() { cat >>"${GITHUB_STEP_SUMMARY:?}"; }

# indented TEXT BYTES prints a text as a block of code, which nothing in the text can end.
indented() {
  printf '%s\n' "$1" | head -c "$2" | tr -d '\r' | sed 's/^/    /'
  printf '\n'
}

# quote FILE prints a file to the log, in which lines that look like commands are none.
quote() {
  local stop
  stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$stop"
  cat "$1"
  printf '\n::%s::\n' "$stop"
}

# lines TEXT: the lines of an input, without blank ones, in the array of that name.
lines() {
  local line
  lines=()
  while IFS= read -r line || [[ -n $line ]]; do
    line=${line%$'\r'}
    line=${line#"${line%%[![:space:]]*}"}
    line=${line%"${line##*[![:space:]]}"}
    [[ -z $line ]] || lines+=("$line")
  done <<<"$1"
}

# boolean NAME VALUE refuses what is neither: a typo must not switch anything off.
boolean() {
  case $2 in
    true | false) ;;
    *) fail "the input $1 is \"$2\": want true or false" ;;
  esac
}

# find_winnow finds the binary: that of the input, or that which build.sh built.
find_winnow() {
  winnow=${INPUT_WINNOW:-${WINNOW_BUILT:-}}
  [[ -n $winnow ]] || fail "there is no winnow: neither is it built here, nor does the input winnow name one"
  command -v -- "$winnow" >/dev/null || fail "there is no program \"$winnow\""
}
