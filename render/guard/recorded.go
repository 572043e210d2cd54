// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// RecordedSource has the fields of a source's published applications that selection reads, so that an
// edit of the spec can be tried on the catalogs of the last publication without fetching them.
type RecordedSource struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Path      string `json:"path,omitempty"`
	// Digest of the catalog, <algorithm>:<hex>; empty when unknown.
	Digest string `json:"digest,omitempty"`
	// Applications of the source whose names were published, from this source or another one.
	Applications []RecordedApplication `json:"apps,omitempty"`
	// Tiers, Labels (<key>=<value>) and Channels of all applications, bounded. An edit that selects by one of
	// them is not taken for a typo.
	Tiers    []string `json:"tiers,omitempty"`
	Labels   []string `json:"labels,omitempty"`
	Channels []string `json:"channels,omitempty"`
	// Lists of the catalog, with their published members only.
	Lists map[string][]string `json:"lists,omitempty"`
}

// RecordedApplication has the fields of an application that selection reads, except app.spec: an
// expression that reads app.spec excuses nothing while the catalog changes.
type RecordedApplication struct {
	Name       string            `json:"n"`
	APIVersion string            `json:"a"`
	Kind       string            `json:"k"`
	Versions   []string          `json:"v,omitempty"`
	Labels     map[string]string `json:"o,omitempty"`
	// ObjectAnnotations are those of the definition; nil where they are not known: records of older releases
	// lack them, and so do applications that have too much.
	ObjectAnnotations map[string]string `json:"p,omitzero"`
	Method            string            `json:"h,omitempty"`
	DefaultVersion    string            `json:"e,omitempty"`
	Tier              string            `json:"t,omitempty"`
	Deprecated        string            `json:"d,omitempty"`
	Metadata          map[string]string `json:"l,omitempty"`
	Annotations       map[string]string `json:"m,omitempty"`
	// Extra has the facts on versions as well, under metadata.VersionsKey.
	Extra map[string]any `json:"x,omitempty"`
	// Content is the record of a content; empty for an object.
	Content json.RawMessage `json:"c,omitempty"`
}

// Record returns the sources with their published applications.
func Record(sources []Source, published []safeguard.Definition) []RecordedSource {
	names := make(map[string]bool, len(published))
	for _, d := range published {
		names[cmp.Or(d.Application, d.Name)] = true
	}
	recorded := make([]RecordedSource, len(sources))
	for i, s := range sources {
		recorded[i] = recordSource(s, names)
	}
	return recorded
}

func recordSource(s Source, names map[string]bool) RecordedSource {
	r := RecordedSource{Kind: s.Kind, Namespace: s.Name.Namespace, Name: s.Name.Name, Path: s.Path}
	if s.Catalog == nil {
		return r
	}
	r.Digest = s.Catalog.Digest
	known := mention.KnownOf([]selection.Source{s.selection()})
	r.Tiers, r.Labels, r.Channels = first(known.Tiers), first(known.Labels), first(known.Channels)
	for _, a := range s.Catalog.Applications {
		if names[a.Name] {
			r.Applications = append(r.Applications, recordApplication(a))
		}
	}
	for list, members := range s.Catalog.Lists {
		if r.Lists == nil {
			r.Lists = map[string][]string{}
		}
		r.Lists[list] = slices.DeleteFunc(slices.Clone(members), func(name string) bool { return !names[name] })
	}
	return r
}

func recordApplication(a *catalog.Application) RecordedApplication {
	r := RecordedApplication{
		Name: a.Name, APIVersion: a.APIVersion, Kind: a.Kind, Versions: a.Versions, Labels: a.Labels,
		ObjectAnnotations: recordable(a.Annotations), Method: a.Method, DefaultVersion: a.DefaultVersion,
		Tier: a.Metadata.Tier, Deprecated: a.Metadata.Deprecated, Metadata: a.Metadata.Labels,
		Annotations: a.Metadata.Annotations, Extra: a.Metadata.Extra,
	}
	if !a.IsObject() {
		// Without a record, an edit excuses no loss of it.
		if content, err := a.Content.Record(); err == nil {
			r.Content, r.Versions = content, nil
		}
	}
	return r
}

// maxAnnotations bounds the annotations of a definition that are recorded, in bytes.
const maxAnnotations = 1 << 10

// recordable returns annotations, nil if they are too large: an expression that reads them then excuses
// nothing for the application.
func recordable(annotations map[string]string) map[string]string {
	size := 0
	for key, value := range annotations {
		size += len(key) + len(value)
	}
	if size > maxAnnotations {
		return nil
	}
	return annotations
}

// Leaner returns the sources without what takes much room and is read least: the annotations of definitions, without
// these the contents; nil if they have neither.
func Leaner(sources []RecordedSource) []RecordedSource {
	lean, smaller := without(sources, func(a *RecordedApplication) bool {
		some := len(a.ObjectAnnotations) > 0
		if some {
			a.ObjectAnnotations = nil
		}
		return some
	})
	if !smaller {
		lean, smaller = without(sources, func(a *RecordedApplication) bool {
			some := len(a.Content) > 0
			a.Content = nil
			return some
		})
	}
	if !smaller {
		return nil
	}
	return lean
}

// without returns the sources with their applications changed by drop, and whether it dropped something.
func without(sources []RecordedSource, drop func(*RecordedApplication) bool) (lean []RecordedSource, smaller bool) {
	lean = slices.Clone(sources)
	for i, s := range lean {
		lean[i].Applications = slices.Clone(s.Applications)
		for j := range s.Applications {
			smaller = drop(&lean[i].Applications[j]) || smaller
		}
	}
	return lean, smaller
}

// maxKnown bounds the tiers, the labels and the channels of a source that are recorded.
const maxKnown = 200

func first(set sets.Set[string]) []string {
	all := slices.Sorted(maps.Keys(set))
	return all[:min(len(all), maxKnown)]
}

// is reports whether s is the recorded source: the same object and path.
func (r RecordedSource) is(s Source) bool {
	return r.Kind == s.Kind && r.Namespace == s.Name.Namespace && r.Name == s.Name.Name && r.Path == s.Path
}

// unchanged reports whether s has the recorded content.
func (r RecordedSource) unchanged(s Source) bool {
	return r.Digest != "" && s.Catalog != nil && r.Digest == s.Catalog.Digest
}

// catalogOf returns the recorded applications of sources as one catalog. Of an application in several
// sources it has that of the first.
func catalogOf(sources ...RecordedSource) *catalog.Catalog {
	c := &catalog.Catalog{Lists: map[string][]string{}}
	seen := map[string]bool{}
	for _, s := range sources {
		for _, a := range s.Applications {
			if !seen[a.Name] {
				seen[a.Name] = true
				c.Applications = append(c.Applications, a.application())
			}
		}
		for list, members := range s.Lists {
			c.Lists[list] = slices.Concat(c.Lists[list], members)
		}
	}
	return c
}

func (a RecordedApplication) application() *catalog.Application {
	// Without its content, an application is there, so that no edit excuses that it goes; what it loses differs.
	if recalled, err := catalog.Recall(a.Kind, a.Content); err == nil {
		recalled.Metadata.Labels, recalled.Metadata.Annotations = a.Metadata, a.Annotations
		return recalled
	}
	d := safeguard.Definition{APIVersion: a.APIVersion, Kind: a.Kind, Name: a.Name}
	return &catalog.Application{
		Name: a.Name, APIVersion: a.APIVersion, Kind: a.Kind, Group: d.Key().Group, Versions: a.Versions, Labels: a.Labels,
		Annotations: a.ObjectAnnotations, Method: a.Method, DefaultVersion: a.DefaultVersion,
		Metadata: metadata.Metadata{
			Tier: a.Tier, Labels: a.Metadata, Annotations: a.Annotations, Deprecated: a.Deprecated, Extra: maps.Clone(a.Extra),
			Versions: metadata.VersionsOf(a.Extra[metadata.VersionsKey]),
		},
	}
}

// atLastPublication returns the sources of a new spec with the catalogs of the last publication:
//
//	the source                                            its catalog then
//	was recorded, or has the content of one that was      the recorded one
//	was recorded with the content that it has now         the one that it has now
//	is new, and no recorded source was dropped            empty
//	is new otherwise                                      unknown: it may be a dropped one under another name
//
// known reports whether all of them are known, and all whether each is the one that the source has now.
func atLastPublication(recorded []RecordedSource, now []Source) (sources []Source, known, all bool) {
	matched := make([]int, len(now))
	taken, added := map[int]bool{}, len(now)
	for _, same := range []func(RecordedSource, Source) bool{RecordedSource.is, RecordedSource.unchanged} {
		for i, s := range now {
			if matched[i] > 0 {
				continue
			}
			if j := slices.IndexFunc(recorded, func(r RecordedSource) bool { return same(r, s) }); j >= 0 && !taken[j] {
				matched[i], taken[j] = j+1, true
				added--
			}
		}
	}
	sources, all = slices.Clone(now), true
	for i, s := range now {
		switch {
		case matched[i] == 0:
			sources[i].Catalog, all = &catalog.Catalog{}, false
		case !recorded[matched[i]-1].unchanged(s):
			sources[i].Catalog, all = catalogOf(recorded[matched[i]-1]), false
		}
	}
	return sources, added == 0 || len(taken) == len(recorded), all
}
