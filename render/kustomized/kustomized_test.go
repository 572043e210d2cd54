// SPDX-License-Identifier: Apache-2.0

package kustomized_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/tree"
)

// TestTreesAreBuiltAtTheSameTime is of use with the race detector: some of the builds need a schema, which kustomize parses
// when one first does, and all look the scope of their objects up in it.
func TestTreesAreBuiltAtTheSameTime(t *testing.T) {
	const patch = "patches: [{patch: '{apiVersion: example.dev/v1, kind: Box, metadata: {name: box-0}, spec: {a: b}}'}]\n"
	var builds sync.WaitGroup
	for range 4 {
		builds.Go(func() { build(t, 200, "") })
		builds.Go(func() { build(t, 20, patch) })
	}
	builds.Wait()
}

func build(t *testing.T, boxes int, kustomization string) {
	files := tree.New()
	add := func(path, content string) {
		if err := files.Add(path, []byte(content)); err != nil {
			t.Error(err)
		}
	}
	kustomization += "resources:\n"
	for n := range boxes {
		path := fmt.Sprintf("box-%d.yaml", n)
		add(path, fmt.Sprintf("apiVersion: example.dev/v1\nkind: Box\nmetadata: {name: box-%d}\n", n))
		kustomization += "- " + path + "\n"
	}
	add(tree.KustomizationFile, kustomization)
	if _, err := kustomized.Build(files); err != nil {
		t.Error(err)
	}
}
