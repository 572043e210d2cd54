// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// differ compares the applications of two sides.
type differ struct {
	from, to *Side
	// edited is true if the spec differs in what the artifact depends on.
	edited bool
	// stranded maps the packages of operators to the versions that each channel strands.
	stranded map[safeguard.Key]map[string][]string
	// elsewhere has the versions that stay and come from another source; the version is empty for a
	// definition as a whole.
	elsewhere map[loss]bool
	// budget is the number of bytes that diffs may still take.
	budget int

	older, newer map[safeguard.Key]kustomized.Object
}

// maxDiffs bounds the diffs of all applications and instances in bytes.
const maxDiffs = 8 << 20

// loss is a removed definition, or a removed version of one.
type loss struct {
	key     safeguard.Key
	version string
}

// elsewhere returns the versions whose source the safeguards find changed.
func elsewhere(changes []safeguard.Change) map[loss]bool {
	found := map[loss]bool{}
	for _, c := range changes {
		if c.Reason != v1alpha1.SourceChangeReason {
			continue
		}
		if len(c.Versions) == 0 {
			found[loss{key: c.Key}] = true
		}
		for _, version := range c.Versions {
			found[loss{c.Key, version}] = true
		}
	}
	return found
}

// cause returns the cause of the loss of a definition or, where it stays, of one of its versions: an edit, if there is one and the
// newer catalogs still have what is lost, or have not changed.
func (d *differ) cause(key safeguard.Key, version string) diff.Cause {
	switch {
	case d.to.Subject == Stage:
		return diff.CausePromotion
	case guard.UnmetBy(key, version, d.to.Result.Selection):
		return diff.CausePlatform
	case d.edited && (guard.IsInCatalog(key, version, d.to.Result.Selection) || d.sameCatalogs()):
		return diff.CauseSpec
	}
	return diff.CauseCatalog
}

// sameCatalogs reports whether no source of the newer state has content that the older one lacks.
func (d *differ) sameCatalogs() bool {
	return !slices.ContainsFunc(d.to.Sources, func(now guard.Source) bool {
		return !slices.ContainsFunc(d.from.Sources, func(was guard.Source) bool { return was.Checksum == now.Checksum && now.Checksum != "" })
	})
}

// stranded returns the versions that the channels of packages strand.
func stranded(changes []safeguard.Change) map[safeguard.Key]map[string][]string {
	found := map[safeguard.Key]map[string][]string{}
	for _, c := range changes {
		if c.Reason != v1alpha1.StrandedReason {
			continue
		}
		if found[c.Key] == nil {
			found[c.Key] = map[string][]string{}
		}
		// A channel may be the default one newly, too.
		found[c.Key][c.Channel] = sorted(slices.Concat(found[c.Key][c.Channel], c.Versions))
	}
	return found
}

func objects(ctx context.Context, side *Side, names []string) (map[safeguard.Key]kustomized.Object, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return side.Result.Objects(ctx, sorted(names))
}

func newApplication(d safeguard.Definition, change diff.Change) diff.Application {
	return diff.Application{
		Name: d.Name, APIVersion: d.APIVersion, Kind: d.Kind, Source: d.Source, Change: change,
		Versions: []diff.Version{}, Fields: []diff.Field{}, Unmirrored: []diff.Host{},
	}
}

// bound keeps the diffs of values, which may be nil, of all applications and instances together within the budget.
func (d *differ) bound(v *diff.Values) {
	if v == nil {
		return
	}
	v.Cut(d.budget)
	d.budget -= len(v.Diff)
}

// protected reports whether Flux keeps the live object of a definition that leaves the artifact. The live
// object keeps its annotations: the prune annotation of a newer spec is not applied to it any more.
func protected(object kustomized.Object) bool {
	return guard.Kept(&unstructured.Unstructured{Object: object})
}

// notInSpec is why an instance is gone that the edit has removed.
const notInSpec = "spec.instances does not have it"

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
