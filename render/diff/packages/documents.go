// SPDX-License-Identifier: Apache-2.0

package packages

import (
	"bytes"
	"cmp"
	"maps"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/value"
)

// compareChannel compares a channel with its heads. Either side may be nil.
func compareChannel(before, after *filebased.Channel, was, is *filebased.Bundle) diff.Channel {
	switch {
	case before == nil:
		return diff.Channel{Name: after.Name, Change: diff.Added, Head: newHead(nil, is), Deprecated: after.Deprecated}
	case after == nil:
		return diff.Channel{Name: before.Name, Change: diff.Removed, Head: newHead(was, nil)}
	}
	c := diff.Channel{Name: after.Name, Change: diff.Unchanged}
	if was.Name != is.Name || was.Version.String() != is.Version.String() {
		c.Head = newHead(was, is)
	}
	older, newer := before.EntryNames(), after.EntryNames()
	c.Added, c.Removed = newer.Difference(older).Len(), older.Difference(newer).Len()
	if before.Deprecated == "" {
		c.Deprecated = after.Deprecated
	}
	c.Fields, c.FieldsOmitted = Fields(before.Blob, after.Blob, maxBundleFields)
	if c.Head != nil || c.Added+c.Removed+len(c.Fields) > 0 || c.Deprecated != "" {
		c.Change = diff.Updated
	}
	return c
}

// maxBundleFields bounds the fields of a bundle or a channel that are listed, and maxBundles the bundles with fields: a
// catalog may be written anew.
const maxBundleFields, maxBundles = 10, 50

func newHead(from, to *filebased.Bundle) *diff.Head {
	h := &diff.Head{From: newBundle(from), To: newBundle(to)}
	if from == nil || to == nil {
		return h
	}
	h.Kind = diff.StepOther
	before, errBefore := semver.NewVersion(from.Version.Semver())
	after, errAfter := semver.NewVersion(to.Version.Semver())
	if errBefore == nil && errAfter == nil {
		h.Kind = diff.StepKind(before, after)
	}
	return h
}

func newBundle(b *filebased.Bundle) *diff.Bundle {
	if b == nil {
		return nil
	}
	return &diff.Bundle{Version: b.Name, Number: b.Version.String()}
}

// BundleVersions compares the bundles of two packages: the newer ones in their order, then the removed ones in theirs.
func BundleVersions(before, after *filebased.Package, removedBy func(version string) diff.Cause) []diff.Version {
	var all []diff.Version
	older := each.By(before.Bundles, func(b *filebased.Bundle) string { return b.Name })
	stays, compared := map[string]bool{}, 0
	for _, bundle := range after.Bundles {
		stays[bundle.Name] = true
		v := diff.Version{Version: bundle.Name, Number: bundle.Version.String(), Change: diff.Added}
		if was := older[bundle.Name]; was != nil {
			if same(was.Blob, bundle.Blob) {
				continue
			}
			most := maxBundleFields
			if compared++; compared > maxBundles {
				most = 0
			}
			v.Change = diff.Replaced
			v.Fields, v.FieldsOmitted = Fields(was.Blob, bundle.Blob, most)
			if len(v.Fields)+v.FieldsOmitted == 0 {
				continue
			}
		}
		all = append(all, v)
	}
	for _, bundle := range before.Bundles {
		if !stays[bundle.Name] {
			all = append(all, diff.Version{Version: bundle.Name, Number: bundle.Version.String(), Change: diff.Removed, Cause: removedBy(bundle.Name)})
		}
	}
	return all
}

func same(before, after *filebased.Blob) bool {
	return before != nil && after != nil && bytes.Equal(before.Data, after.Data)
}

// Fields returns the fields in which two documents differ, and the number of those beyond most. Comments and the
// order of lists whose elements have names do not count. Of entries, only those that both have do.
func Fields(before, after *filebased.Blob, most int) ([]diff.Field, int) {
	if before == nil || after == nil || bytes.Equal(before.Data, after.Data) {
		return nil, 0
	}
	older, newer := before.Object(), after.Object()
	byIdentity(older)
	byIdentity(newer)
	if entries, ok := older["entries"].(map[string]any); ok {
		others, _ := newer["entries"].(map[string]any)
		keepBoth(entries, others)
	}
	return fielddiff.Bounded(fielddiff.Of(older, newer), most)
}

// byIdentity replaces the lists of a document by mappings, so that elements are compared with each other: properties by
// their types, entries and related images by their names.
func byIdentity(document map[string]any) {
	for list, keys := range map[string][]string{"properties": {"type"}, "entries": {"name"}, "relatedImages": {"name", "image"}} {
		elements, ok := document[list].([]any)
		if !ok {
			continue
		}
		named := map[string]any{}
		for _, element := range elements {
			fields, identity := value.Of(element), ""
			for _, key := range keys {
				identity = cmp.Or(identity, fields.Get(key).Text())
			}
			add(named, identity, valueOf(list, fields.Mapping()))
		}
		document[list] = named
	}
}

// valueOf returns what an element of a list has beside its identity.
func valueOf(list string, fields map[string]any) any {
	switch list {
	case "properties":
		return fields["value"]
	case "relatedImages":
		return fields["image"]
	}
	rest := maps.Clone(fields)
	delete(rest, "name")
	return rest
}

// add adds a value. Several of one key become a list, in their order.
func add(to map[string]any, key string, value any) {
	switch known := to[key].(type) {
	case nil:
		to[key] = value
	case several:
		to[key] = append(known, value)
	default:
		to[key] = several{known, value}
	}
}

// several are the values of one key.
type several []any

func keepBoth(one, other map[string]any) {
	for key := range sets.KeySet(one).SymmetricDifference(sets.KeySet(other)) {
		delete(one, key)
		delete(other, key)
	}
}

// OtherDocuments counts the documents that only one of two packages has, of schemas that OLM has no meaning for.
func OtherDocuments(before, after *filebased.Package) int {
	counts := map[string]int{}
	count := func(p *filebased.Package, by int) {
		for _, blob := range p.Blobs {
			switch blob.Schema {
			case filebased.SchemaPackage, filebased.SchemaChannel, filebased.SchemaBundle, filebased.SchemaDeprecation:
			default:
				counts[string(blob.Data)] += by
			}
		}
	}
	count(before, -1)
	count(after, 1)
	gone, fresh := 0, 0
	for _, n := range counts {
		gone, fresh = gone+max(-n, 0), fresh+max(n, 0)
	}
	return max(gone, fresh)
}
