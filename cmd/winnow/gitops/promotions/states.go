// SPDX-License-Identifier: Apache-2.0

package promotions

import (
	"cmp"
	"context"
	"slices"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
)

// States returns the stages of a commit: OCIRepositories with the digest of a rendered artifact, or of a repository to which a
// selection of the commit pushes.
func States(ctx context.Context, head *documents.Set, registry *Registry) (all []State) {
	pushed := map[string]bool{}
	for _, cs := range head.Selections {
		if cs.Invalid == nil && cs.Spec.Push != nil {
			pushed[cs.Spec.Push.URL] = true
		}
	}
	for _, source := range applied(head) {
		r, err := source.Reference()
		if err != nil || r.Digest == "" && !pushed[r.Catalog] && !pushed[r.Catalog[:max(0, strings.LastIndexByte(r.Catalog, ':'))]] {
			continue
		}
		if artifact, err := registry.Pull(ctx, r); err != nil || artifact.Result != nil {
			all = append(all, State{source, r, artifact, err})
		}
	}
	return all
}

// applied returns the OCIRepositories that Kustomizations of a commit apply, and the unused ones.
func applied(head *documents.Set) []documents.Source {
	all := head.Unused(sourcev1.OCIRepositoryKind)
	for _, consumer := range head.Consumers {
		if source, err := sourceOf(head, consumer); source != nil && err == nil {
			all = append(all, *source)
		}
	}
	order := func(a, b documents.Source) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}
	slices.SortFunc(all, order)
	return slices.CompactFunc(all, func(a, b documents.Source) bool { return order(a, b) == 0 })
}
