#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages: sigs.k8s.io/kustomize/api v0.21.1 with kyaml v0.21.1 (kustomize 5.8).
#
# Expected: the OpenAPI schemas of Kubernetes, which kustomize has built in, are read for the kinds that they describe. A merge patch on
# a custom resource has no use for them: lists are replaced, as the schemas have no merge key for it.
# Seen: the first merge patch of a process reads all of them, on whatever kind. It allocates some 45 MiB, 30 times as much as a JSON 6902
# patch with the same result, and takes most of the time of a small build. The second one allocates no more than that patch. So does each
# run of the kustomize command, and each short process that builds, for as little as one line on a custom resource.
# What to do: patch custom resources by JSON 6902 patches where many processes build little, such as a check for each directory.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >main.go <<'GO'
package main

import (
	"fmt"
	"runtime"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const (
	object     = "apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: one}\nspec: {size: 1, parts: [{name: a}]}\n"
	jsonPatch  = "- target: {kind: Widget}\n  patch: |\n    - {op: replace, path: /spec/size, value: 2}\n"
	mergePatch = "- patch: '{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: one}, spec: {size: 2}}'\n"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// build returns the objects, and the number of bytes that were allocated for them.
func build(patch string) (string, uint64) {
	files := filesys.MakeFsInMemory()
	check(files.WriteFile("widget.yaml", []byte(object)))
	check(files.WriteFile("kustomization.yaml", []byte("resources: [widget.yaml]\npatches:\n"+patch)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, ".")
	runtime.ReadMemStats(&after)
	check(err)
	text, err := objects.AsYaml()
	check(err)
	return string(text), after.TotalAlloc - before.TotalAlloc
}

func main() {
	first, byJSON := build(jsonPatch)
	second, byMerge := build(mergePatch)
	third, again := build(mergePatch)
	fmt.Println("the same objects:", first == second && second == third)
	fmt.Println("the first merge patch allocates ten times as much as a JSON patch:", byMerge > 10*byJSON)
	fmt.Println("the second one does:", again > 10*byJSON)
}
GO
{
  go mod init example.com/finding
  go get sigs.k8s.io/kustomize/api@v0.21.1 sigs.k8s.io/kustomize/kyaml@v0.21.1
  go mod tidy
} >log 2>&1 || { cat log; exit 1; }

got=$(go run .)
echo "$got"
if [ "$got" != "the same objects: true
the first merge patch allocates ten times as much as a JSON patch: true
the second one does: false" ]; then
  echo "this has changed: the first merge patch of a process read all schemas before" >&2
  exit 1
fi
