#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages: sigs.k8s.io/kustomize/api v0.21.1 (kustomize 5.8, kustomize-controller 1.9 and 1.10).
#
# Expected: a JSON 6902 patch is a list in YAML, so the flow style [{op: remove, path: /data/a}] is as good as the block style and
# as the JSON that it resembles.
# Seen: kustomize takes a text whose first character is "[" for JSON, without a try as YAML, and says "unable to parse SM or JSON
# patch", with neither a line nor the missing quotes. With a comment in front the same list is read as YAML and
# works, so a formatter that drops the comment breaks the build of a Kustomization.
# What to do: write "- {op: ..., path: ...}", one operation a line, or real JSON with quotes.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >main.go <<'GO'
package main

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	for _, patch := range []string{
		"- {op: remove, path: /data/a}\n",
		`[{"op": "remove", "path": "/data/a"}]` + "\n",
		"# no a\n[{op: remove, path: /data/a}]\n",
		"[{op: remove, path: /data/a}]\n",
	} {
		files := filesys.MakeFsInMemory()
		for name, content := range map[string]string{
			"object.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: \"1\", b: \"2\"}\n",
			"patch.yaml":         patch,
			"kustomization.yaml": "resources: [object.yaml]\npatches: [{path: patch.yaml, target: {kind: ConfigMap}}]\n",
		} {
			if err := files.WriteFile(name, []byte(content)); err != nil {
				panic(err)
			}
		}
		_, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, ".")
		switch {
		case err == nil:
			fmt.Println("built")
		case strings.Contains(err.Error(), "unable to parse SM or JSON patch"):
			fmt.Println("unable to parse SM or JSON patch")
		default:
			fmt.Println(err)
		}
	}
}
GO
{
  go mod init example.com/finding
  go get sigs.k8s.io/kustomize/api@v0.21.1
  go mod tidy
} >log 2>&1 || { cat log; exit 1; }

got=$(go run .)
echo "$got"
if [ "$got" != "built
built
built
unable to parse SM or JSON patch" ]; then
  echo "this has changed: only the list that begins with a bracket was refused before" >&2
  exit 1
fi
