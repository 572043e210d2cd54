#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Shows the main use on files: files.sh WINNOW. It needs the command line alone: it starts no server and compiles nothing.
set -eu

winnow=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"
cp "$root/examples/gitops/selection.yaml" selection.yaml
cp -R "$root/examples/catalog" v1.0.0

# say TEXT, run COMMAND...: a step, and a command with its output.
say() { printf '==> %s\n' "$1"; }
run() {
  printf '$ winnow %s\n' "$*"
  "$winnow" "$@" >printed 2>&1 || { cat printed >&2; exit 1; }
  # The lines that name what is lost come from the file. Texts of a catalog may be wider than a terminal.
  sed -e '/^Unknown without --live/,$d' -e '/^$/d' -e 's/\(sha256:[0-9a-f]\{12\}\)[0-9a-f]*/\1.../g' printed | cut -c1-80
}

# application CATALOG NAME: the file of an application.
application() { printf '%s/applications/%s/application.yaml' "$1" "$2"; }

echo "# on files"
say "rendering what examples/gitops selects of examples/catalog"
echo "A revision is the checksum of what is rendered."
run render -f selection.yaml --source ./v1.0.0 -o rendered

say "upgrading to v1.1.0, in which the values of argocd changed"
cp -R v1.0.0 v1.1.0
sed 's/replicas: 1/replicas: 2/' "$(application v1.0.0 argocd)" >"$(application v1.1.0 argocd)"
run diff -f selection.yaml --from ./v1.0.0 --to ./v1.1.0

say "upgrading to v2.0.0, which lost loki and argocd's version 2.13.0"
cp -R v1.1.0 v2.0.0
rm -r v2.0.0/applications/loki
sed '/- version: 2.13.0/,/chartVersion:/d' "$(application v1.1.0 argocd)" >"$(application v2.0.0 argocd)"
run diff -f selection.yaml --from ./v1.1.0 --to ./v2.0.0

say "naming what is lost, as a pull request does"
{
  printf '  safeguards:\n    approve:\n'
  sed -n '/^ *approve:$/,$ s/^ *- /    - /p' printed
} >approval
cat approval
cat approval >>selection.yaml
run diff -f selection.yaml --from ./v1.1.0 --to ./v2.0.0 --fail-on held
rm -r rendered
run render -f selection.yaml --source ./v2.0.0 -o rendered
