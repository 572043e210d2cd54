package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Labels with which Flux says which Kustomization has applied an object.
const (
	ownerNameLabel      = "kustomize.toolkit.fluxcd.io/name"
	ownerNamespaceLabel = "kustomize.toolkit.fluxcd.io/namespace"
)

// ownerNotes say which Kustomizations hold the definitions that enter, a sentence for each.
func ownerNotes(entering []safeguard.Definition, live map[safeguard.Key]diff.Live) []string {
	held := map[string]int{}
	for _, d := range entering {
		object := unstructured.Unstructured{Object: live[d.Key()].Object}
		labels := object.GetLabels()
		if name := labels[ownerNameLabel]; name != "" {
			held[cmp.Or(labels[ownerNamespaceLabel], "default")+"/"+name]++
		}
	}
	var notes []string
	for _, owner := range slices.Sorted(maps.Keys(held)) {
		notes = append(notes, fmt.Sprintf("%s applied by the Kustomization %s: unless this artifact becomes its source, "+
			"the selection waits (Conflict) until it has let go", are(held[owner]), owner))
	}
	return notes
}

func are(n int) string {
	if n == 1 {
		return "1 live definition is"
	}
	return fmt.Sprintf("%d live definitions are", n)
}
