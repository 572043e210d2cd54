#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages: sigs.k8s.io/yaml v1.6.0, which reads the values of Helm 3 and 4, and of KKP's definitions.
#
# Expected: values with the keys 8 and "8" in one mapping are read the same way each time: the last one wins, as with a key that
# is there twice, or it is an error.
# Seen: either value, at random. The keys differ in YAML and are one in JSON, and the conversion ranges over a Go map. So the same
# values.yaml gives another release from one reconciliation to the next, without a change in Git. Ports and node numbers as keys
# (ports: {8080: a}, and "8080" in an override that was pasted below) are how this is written. UnmarshalStrict has no error.
# What to do: spell a key in one way; compare the names of keys as JSON has them before a file is used.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >main.go <<'GO'
package main

import (
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"
)

func main() {
	var seen []string
	for range 1000 {
		var values map[string]any
		if err := yaml.UnmarshalStrict([]byte("8: number\n\"8\": text\n"), &values); err != nil {
			panic(err)
		}
		if value := fmt.Sprint(values["8"]); !slices.Contains(seen, value) {
			seen = append(seen, value)
		}
	}
	slices.Sort(seen)
	fmt.Println(seen)
}
GO
{
  go mod init example.com/finding
  go get sigs.k8s.io/yaml@v1.6.0
  go mod tidy
} >log 2>&1 || { cat log; exit 1; }

got=$(go run .)
echo "a thousand reads of one text: $got"
if [ "$got" != "[number text]" ]; then
  echo "this has changed: both values were seen before" >&2
  exit 1
fi
