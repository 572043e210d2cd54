#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages: github.com/fluxcd/pkg/kustomize v1.35.6 (as in kustomize-controller 1.9), sigs.k8s.io/kustomize/api v0.21.1.
#
# Expected: spec.postBuild of a Kustomization changes what has a variable, and no other object.
# Seen: each object is decoded with float64 for numbers and encoded again, unless it has the annotation substitute: disabled. An
# integer above 2^53 comes out rounded, in an object without any variable, as soon as one variable is set: account number
# 9007199254740993 is applied as 9007199254740992. Without postBuild the same object keeps its digits, so adding the first
# variable to a Kustomization changes objects that nobody edited. kustomize and the API server keep them.
# What to do: put such a number in quotes where its schema allows that, or annotate the object with
# kustomize.toolkit.fluxcd.io/substitute: disabled.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/provider"
)

const object = `apiVersion: example.com/v1
kind: Account
metadata:
  name: one%s
spec:
  number: 9007199254740993
`

func main() {
	var owner unstructured.Unstructured
	if err := owner.UnmarshalJSON([]byte(`{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "apps", "namespace": "flux-system"},
		"spec": {"postBuild": {"substitute": {"region": "berlin"}}}}`)); err != nil {
		panic(err)
	}
	for _, annotations := range []string{"", "\n  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}"} {
		resource, err := provider.NewDefaultDepProvider().GetResourceFactory().FromBytes([]byte(fmt.Sprintf(object, annotations)))
		if err != nil {
			panic(err)
		}
		changed, err := kustomize.SubstituteVariables(context.Background(), nil, owner, resource)
		if err != nil {
			panic(err)
		}
		if changed == nil { // it is left alone
			changed = resource
		}
		text, err := changed.AsYAML() // which kustomize-controller applies
		if err != nil {
			panic(err)
		}
		for line := range strings.Lines(string(text)) {
			if number, found := strings.CutPrefix(line, "  number: "); found {
				fmt.Print(number)
			}
		}
	}
}
GO
{
  go mod init example.com/finding
  go get github.com/fluxcd/pkg/kustomize@v1.35.6 sigs.k8s.io/kustomize/api@v0.21.1
  go mod edit -replace github.com/opencontainers/go-digest=github.com/opencontainers/go-digest@v1.0.1-0.20220411205349-bde1400a84be
  go mod tidy
} >log 2>&1 || { cat log; exit 1; }

got=$(go run .)
echo "$got"
if [ "$got" != "9007199254740992
9007199254740993" ]; then
  echo "this has changed: the first number was rounded before, and the one with substitute: disabled was not" >&2
  exit 1
fi
