#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Downloads the archive of a release, and unpacks winnow from it once its digest is that of the input. Writes the path of
# the binary to GITHUB_ENV, for the next step. All inputs come from the environment: see action.yml, which sets them.
set -euo pipefail

action='winnow download'
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=workflow.sh
source "$here/workflow.sh"

# The archives have about 15 MB.
readonly max_bytes=200000000 max_seconds=300

check_inputs() {
  [[ $INPUT_VERSION =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] ||
    fail "the input version is \"$INPUT_VERSION\": want a release such as v0.1.0"
  [[ $INPUT_DOWNLOAD_URL =~ ^https?://[^[:space:]\"\\]+$ ]] || fail "the input download-url is \"$INPUT_DOWNLOAD_URL\": want an address of https"
  lines "$INPUT_SHA256"
  digests=(${lines[@]+"${lines[@]}"})
  ((${#digests[@]} > 0)) || fail "the input sha256 is empty: want the digest of the archive, from checksums.txt of $INPUT_VERSION, which you have verified"
  local digest
  for digest in "${digests[@]}"; do
    [[ $digest =~ ^[0-9a-f]{64}$ ]] || fail "the input sha256 has \"$digest\": want 64 hexadecimal digits"
  done
}

# find_archive sets $archive to the name of the archive for this runner, and $program to that of the binary in it.
find_archive() {
  local os arch extension=tar.gz
  program=winnow
  case ${RUNNER_OS:-$(uname -s)} in
    Linux) os=linux ;;
    macOS | Darwin) os=darwin ;;
    Windows*) os=windows extension=zip program=winnow.exe ;;
    *) fail "there is no release for ${RUNNER_OS:-$(uname -s)}: build winnow, and pass its path as the input winnow" ;;
  esac
  case ${RUNNER_ARCH:-$(uname -m)} in
    X64 | x86_64 | amd64) arch=amd64 ;;
    ARM64 | aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no release for ${RUNNER_ARCH:-$(uname -m)}: build winnow, and pass its path as the input winnow" ;;
  esac
  archive=winnow_${INPUT_VERSION#v}_${os}_$arch.$extension
}

download() {
  local url=${INPUT_DOWNLOAD_URL%/}/$INPUT_VERSION/$archive code=0
  # No redirect leaves https.
  curl --fail --silent --show-error --location --proto-redir '=https' --retry 3 --max-time "$max_seconds" \
    --max-filesize "$max_bytes" --output "$work/$archive" -- "$url" 2>"$work/curl.log" || code=$?
  if ((code > 0)); then
    quote "$work/curl.log"
    fail "downloading $url: curl ended with $code; is there a release $INPUT_VERSION? Without the input version, winnow is built from the commit of the action"
  fi
}

# verify compares the digest of the archive. Nothing of it is read before.
verify() {
  local sum digest
  if command -v sha256sum >/dev/null; then
    sum=$(sha256sum <"$work/$archive")
  else
    sum=$(shasum -a 256 <"$work/$archive")
  fi
  sum=${sum%% *}
  for digest in "${digests[@]}"; do
    [[ $digest != "$sum" ]] || return 0
  done
  fail "the digest of $archive is $sum, which the input sha256 does not have: compare it with checksums.txt of $INPUT_VERSION, and trust neither before you know why"
}

unpack() {
  case $archive in
    *.zip) unzip -q -o "$work/$archive" "$program" -d "$work" ;;
    *) tar -xzf "$work/$archive" -C "$work" "$program" ;;
  esac || fail "$archive has no $program"
}

main() {
  work=$(mktemp -d "${RUNNER_TEMP:?}/winnow-download.XXXXXX")
  check_inputs
  find_archive
  download
  verify
  unpack
  printf 'WINNOW_BUILT=%s\n' "$work/$program" >>"${GITHUB_ENV:?}"
  echo "winnow $INPUT_VERSION, from $archive"
}

main
