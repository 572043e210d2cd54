// SPDX-License-Identifier: Apache-2.0

package livetest

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// SelectionGVK is the kind of selections.
var SelectionGVK = v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind)

// InNamespace returns manifests of a namespace with a selection.
func InNamespace(namespace, spec string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---\n"+
		"apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: apps, namespace: %s}\nspec: %s\n", namespace, namespace, spec)
}

// HeldStatus is the status of a selection with a change that is held.
func HeldStatus(approve ...string) map[string]any {
	return map[string]any{
		"sources": []map[string]any{{"kind": "OCIRepository", "namespace": "ns", "name": "catalog", "revision": "v1@sha256:01", "digest": "sha256:02"}},
		"held": map[string]any{
			"revision": "v2@sha256:" + strings.Repeat("5b", 32), "total": 1, "approve": approve,
			"reasons": []map[string]any{{"reason": "Removal", "application": "loki", "message": "would be removed, because no source has it"}},
		},
	}
}

// HeldOutput is what verbs print of HeldStatus(HeldLine) in the namespace NS.
const HeldOutput = `NS/apps: HELD: 1 change, nothing of this revision is published:
  v2@sha256:5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b
  Removal: loki: would be removed, because no source has it
To publish it all the same, add to the CatalogSelection in Git:
  spec:
    safeguards:
      approve:
      - loki/2.0.0:live
A line counts once in each cluster that has the selection from Git.
`

// HeldLine approves the change of HeldStatus.
const HeldLine = "loki/2.0.0:live"

// Holds creates a selection apps of which a change is held.
func (c *Cluster) Holds(namespace string, approve ...string) {
	c.T.Helper()
	c.ApplyAll(InNamespace(namespace, "{sources: [{name: catalog}]}"))
	status := HeldStatus(approve...)
	status["observedGeneration"] = 1
	if err := c.Report(c.T.Context(), SelectionGVK, c.Key(namespace), status); err != nil {
		c.T.Fatal(err)
	}
}
