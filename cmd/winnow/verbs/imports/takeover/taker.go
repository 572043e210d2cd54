// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/selection"
)

// Finding is about an object of the input. It contains text of the input, which is not trusted.
type Finding struct {
	Kind, Namespace, Name string
	// Text is why it was not taken, or what to know about it.
	Text string
}

// Result has what was taken of the input.
type Result struct {
	// Instances by name.
	Instances map[string]v1alpha1.Instance
	// Patches keep the fields that an instance does not have.
	Patches []kustomize.Patch
	// Refused is what was not taken, and Warnings what changes about what was. Both are sorted by object.
	Refused, Warnings []Finding
}

// taker takes releases into a selection.
type taker struct {
	selection *v1alpha1.CatalogSelection
	sources   []selection.Source
	input     input
	published *published
	taken     map[string]*candidate
	refused   []Finding
}

func (t *taker) refuse(o object, reason string) {
	t.refused = append(t.refused, Finding{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), Text: reason})
}

// candidates returns what is taken, sorted by name.
func (t *taker) candidates() []*candidate {
	return slices.SortedFunc(maps.Values(t.taken), func(a, b *candidate) int { return strings.Compare(a.live.GetName(), b.live.GetName()) })
}

func (t *taker) drop(c *candidate, reason string) {
	t.refuse(c.live, reason)
	delete(t.taken, c.live.GetName())
}
