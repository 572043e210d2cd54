// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

const (
	// maxSources bounds the sources of a selection, as the API does.
	maxSources = 16
	// maxLimited bounds the names in the limit of a source to add: with more, it has the limit of the copied one.
	maxLimited = 50
	// shortDigest is the number of hexadecimal digits in the name of a copy.
	shortDigest = 7
	// maxSourceName bounds the name of a source to copy, so that the copy has room for the digest.
	maxSourceName = 253 - 1 - shortDigest
	digestPrefix  = "sha256:"
)

// secondSources returns the sources that keep applications and versions which are held because of the catalogs.
// Each was tried: a selection that drops a version by its own rules is not helped by another source.
func secondSources(ctx context.Context, from, to *Side, held []safeguard.Change) []diff.SecondSource {
	if from == nil {
		return nil
	}
	cs, sources := to.Selection.DeepCopy(), slices.Clone(to.Sources)
	var candidates []diff.SecondSource
	for i, older := range from.Sources {
		if len(cs.Spec.Sources) >= maxSources || !replaced(older, to.Sources) {
			continue
		}
		names := lostFrom(contributions(from.Result.Selection, i, older), held)
		if len(names) == 0 {
			continue
		}
		ref := secondReference(from.Selection.Spec.Sources[i], older.Checksum, names)
		candidates = append(candidates, diff.SecondSource{
			Namespace: older.Name.Namespace, Name: older.Name.Name, Digest: older.Checksum, Reference: ref, Applications: names,
		})
		older.Name.Name = ref.Name
		cs.Spec.Sources, sources = append(cs.Spec.Sources, ref), append(sources, older)
	}
	opts, err := render.FromSpec(cs)
	if err != nil || len(candidates) == 0 {
		return nil
	}
	decided, err := render.Decide(ctx, guard.Selections(sources), opts)
	if err != nil {
		return nil // a definition that cannot be merged, for one
	}
	return thatKeep(candidates, decided, held)
}

// thatKeep returns the candidates that keep something, without the applications that they do not keep.
func thatKeep(candidates []diff.SecondSource, decided selection.Result, held []safeguard.Change) []diff.SecondSource {
	keeps := map[string]bool{}
	for _, d := range decided.Applications() {
		keeps[d.Application.Name] = !slices.ContainsFunc(held, func(c safeguard.Change) bool {
			return applicationOf(c) == d.Application.Name && losesByCatalog(c) &&
				slices.ContainsFunc(c.Versions, func(v string) bool { return !slices.Contains(d.Versions, v) })
		})
	}
	var keeping []diff.SecondSource
	for _, s := range candidates {
		named := len(s.Applications) <= maxLimited
		s.Applications = slices.DeleteFunc(s.Applications, func(name string) bool { return !keeps[name] })
		if named {
			s.Reference.Limit.NameSelector = s.Applications
		}
		if len(s.Applications) > 0 {
			keeping = append(keeping, s)
		}
	}
	return keeping
}

// losesByCatalog reports whether a change is a loss of what was published. An instance that the spec does not have any
// more is none.
func losesByCatalog(c safeguard.Change) bool {
	isDropped := c.Instance != "" && c.Detail == ""
	return c.Reason == v1alpha1.VersionRemovalReason || c.Reason == v1alpha1.RemovalReason && c.Consumer == "" && !isDropped
}

// applicationOf returns the application of a change of a definition or of an instance.
func applicationOf(c safeguard.Change) string { return cmp.Or(c.Application, c.Key.Name) }

// contributions maps the selected applications of a source, whose place is the index, to the versions that it
// contributes.
func contributions(decided selection.Result, index int, source guard.Source) map[string][]string {
	all := map[string][]string{}
	for _, d := range decided.Applications() {
		own := d.Application.Versions
		for _, added := range d.Application.Merged {
			own = slices.DeleteFunc(slices.Clone(own), func(v string) bool { return slices.Contains(added.Versions, v) })
			if slices.Contains(source.Catalog.Applications, added.From) {
				all[d.Application.Name] = added.Versions
			}
		}
		if d.Index == index {
			all[d.Application.Name] = own
		}
	}
	return all
}

// lostFrom returns the applications with these versions that are lost, or that lose versions, sorted.
func lostFrom(contributed map[string][]string, held []safeguard.Change) []string {
	var names []string
	for _, c := range held {
		versions, has := contributed[applicationOf(c)]
		if losesByCatalog(c) && has && (len(c.Versions) == 0 || slices.ContainsFunc(c.Versions, func(v string) bool { return slices.Contains(versions, v) })) {
			names = append(names, applicationOf(c))
		}
	}
	return sorted(names)
}

// replaced reports whether a source has another revision now, and whether the older one can be pinned by a digest.
func replaced(older guard.Source, now []guard.Source) bool {
	if older.Kind != "OCIRepository" || !strings.HasPrefix(older.Checksum, digestPrefix) || older.Catalog == nil || len(older.Name.Name) > maxSourceName {
		return false
	}
	return slices.ContainsFunc(now, func(s guard.Source) bool {
		return s.Kind == older.Kind && s.Name == older.Name && s.Path == older.Path && s.Checksum != older.Checksum
	})
}

// secondReference returns the reference to a copy of a source that is pinned to a digest.
func secondReference(ref v1alpha1.SourceReference, digest string, names []string) v1alpha1.SourceReference {
	short := strings.TrimPrefix(digest, digestPrefix)
	ref.Name = fmt.Sprintf("%s-%s", ref.Name, short[:min(len(short), shortDigest)])
	ref.Merge = v1alpha1.MergeVersions
	if len(names) <= maxLimited {
		ref.Limit = &v1alpha1.Limit{NameSelector: slices.Clone(names)}
	}
	return ref
}
