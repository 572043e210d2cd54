// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/winnow-dev/winnow/render/catalog/filebased/graph"
	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/catalog/filebased/splice"
	"github.com/winnow-dev/winnow/render/catalog/filebased/split"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Keep describes what stays of a package.
type Keep struct {
	// Bundle reports whether a channel keeps a bundle. Nil keeps all.
	Bundle func(channel string, bundle *Bundle) bool
	// DefaultChannel, unless it is empty, replaces the default channel of the catalog.
	DefaultChannel string
	// Strict makes an error of every decision.
	Strict bool
}

// Prune returns the package with what the predicate keeps of it. Entries are removed whole: the others keep their bytes,
// with the names of removed bundles, because OLM compares these with what is installed. Where the rest of a channel is
// not valid, Prune drops or adds entries, each with a decision, and repeats these rules in this order:
//
//  1. Of several heads the highest version stays. To another head it adds the entries between, if those that
//     replace each other lead there, or to an entry that skips it; otherwise it drops that head.
//  2. To a stranded entry it adds the entries between in the same way, or drops it.
//  3. Without a head, or with a cycle, it drops the lowest version of those that replace each other.
//
// Channels without entries, bundles without channels and deprecations of removed entries are removed, too. All else stays
// as it is. The error is a *PruneError, or an
// *InvalidError when the result is not valid. Prune returns the decisions beside a *PruneError as well.
func (p *Package) Prune(keep Keep) (*Package, []Decision, error) {
	pruned := packagePruning{keep: keep, of: p}
	pruned.run()
	if len(pruned.problems) > 0 {
		return nil, pruned.decisions, &PruneError{Package: p.Name, Problems: pruned.problems}
	}
	var found report
	loaded := assemble(pruned.blobs, nil, &found) // as Load does
	if err := found.err(); err != nil {
		return nil, pruned.decisions, fmt.Errorf("checking the pruned package: %w", err)
	}
	return loaded.Packages[0], pruned.decisions, nil
}

// packagePruning prunes a package.
type packagePruning struct {
	keep Keep
	of   *Package

	channels  map[string]map[string]bool // names of the entries that stay, by channel
	bundles   map[string]bool
	blobs     []*Blob
	decisions []Decision
	problems  []string
}

func (p *packagePruning) refuse(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

func (p *packagePruning) run() {
	p.channels, p.bundles = map[string]map[string]bool{}, map[string]bool{}
	byName := p.of.bundlesByName()
	for _, channel := range p.of.Channels {
		p.channel(channel, byName)
	}
	p.checkChannels()
	if len(p.problems) > 0 {
		return
	}
	for _, blob := range p.of.Blobs {
		p.add(blob)
	}
}

func (p *packagePruning) channel(channel *Channel, bundles map[string]*Bundle) {
	c := channelPruning{
		channel: channel, all: map[string]*graph.Entry{}, bundles: bundles,
		kept: map[string]bool{}, dropped: map[string]bool{}, decided: map[string]Decision{},
	}
	for i, entry := range channel.Entries {
		c.all[entry.Name] = &channel.Entries[i]
		if p.keep.Bundle == nil || p.keep.Bundle(channel.Name, bundles[entry.Name]) {
			c.kept[entry.Name] = true
		}
	}
	for len(c.kept) > 0 && c.step() {
		continue
	}
	if len(c.kept) > 0 {
		p.channels[channel.Name] = c.kept
	}
	for _, entry := range channel.Entries {
		if c.kept[entry.Name] {
			p.bundles[entry.Name] = true
		}
		if decision, isDecided := c.decided[entry.Name]; isDecided {
			decision.Package = p.of.Name
			p.decisions = append(p.decisions, decision)
		}
	}
}

func (p *packagePruning) checkChannels() {
	name := cmp.Or(p.keep.DefaultChannel, p.of.DefaultChannel)
	exists := slices.ContainsFunc(p.of.Channels, func(c *Channel) bool { return c.Name == name })
	var kept []string
	for _, channel := range p.of.Channels {
		if p.channels[channel.Name] != nil {
			kept = append(kept, channel.Name)
		}
	}
	switch {
	case len(kept) == 0:
		p.refuse("no bundle is kept in any channel")
	case !exists:
		p.refuse("there is no channel %s, which defaultChannel names: kept are %s", excerpt.Quoted(name), nameList(kept))
	case p.channels[name] == nil:
		p.refuse("no bundle is kept in the default channel %s: name another one by defaultChannel: %s", excerpt.Quoted(name), nameList(kept))
	}
	if p.keep.Strict && len(p.decisions) > 0 {
		p.refuse("other entries than those that match would be kept, which strict forbids: %s", excerpt.List(p.decisions, maxNames, Decision.String))
	}
}

// add adds what stays of a blob of the package.
func (p *packagePruning) add(blob *Blob) {
	kept := blob
	switch content := blob.content.(type) {
	case *packageContent:
		kept = p.packageBlob(blob, content)
	case *channelContent:
		names := p.channels[blob.Name]
		if names == nil {
			return
		}
		if slices.ContainsFunc(content.Entries, func(e graph.Entry) bool { return !names[e.Name] }) {
			kept = blob.cut(len(content.Entries), func(i int) bool { return names[content.Entries[i].Name] })
		}
	case *deprecationContent:
		switch rest := each.Where(content.Entries, p.keepsDeprecation); len(rest) {
		case len(content.Entries):
		case 0:
			return
		default:
			kept = blob.cut(len(content.Entries), func(i int) bool { return p.keepsDeprecation(content.Entries[i]) })
		}
	case *Bundle:
		if !p.bundles[blob.Name] {
			return
		}
	}
	if kept == nil {
		p.refuse("entries cannot be removed from the document in %s: write it without aliases and merge keys", blob.where())
		return
	}
	p.blobs = append(p.blobs, kept)
}

func (p *packagePruning) packageBlob(blob *Blob, content *packageContent) *Blob {
	name := p.keep.DefaultChannel
	if name == "" || name == content.DefaultChannel {
		return blob
	}
	return blob.edited(splice.SetText(blob.Data, blob.JSON, "defaultChannel", name), func(top map[string]any) { top["defaultChannel"] = name })
}

func (p *packagePruning) keepsDeprecation(one Deprecation) bool {
	switch one.Reference.Schema {
	case SchemaChannel:
		return p.channels[one.Reference.Name] != nil
	case SchemaBundle:
		return p.bundles[one.Reference.Name]
	}
	return true
}

// cut returns the blob with the entries that stay.
func (b *Blob) cut(count int, keep func(int) bool) *Blob {
	return b.edited(splice.CutList(b.Data, b.JSON, "entries", count, keep), func(top map[string]any) {
		all, _ := top["entries"].([]any)
		kept := []any{}
		for i, one := range all {
			if keep(i) {
				kept = append(kept, one)
			}
		}
		top["entries"] = kept
	})
}

// edited returns the blob with other bytes. Where these do not say what edit makes of the document, as with the aliases
// and merge keys of YAML, it writes the whole document as JSON. It is nil if that does not say it either.
func (b *Blob) edited(data []byte, edit func(top map[string]any)) *Blob {
	wanted, err := b.values()
	if err != nil {
		return nil
	}
	edit(wanted)
	if len(data) > 0 {
		if changed := b.with(data, b.JSON, wanted); changed != nil {
			return changed
		}
	}
	if data, err = json.Marshal(wanted); err != nil {
		return nil
	}
	return b.with(data, true, wanted)
}

// with returns the blob with other bytes, nil if these do not say what is wanted.
func (b *Blob) with(data []byte, isJSON bool, wanted map[string]any) *Blob {
	changed, problems := readBlob(split.Document{Path: b.Path, Number: b.Document, Line: b.Line, Data: data, JSON: isJSON})
	if len(problems) > 0 {
		return nil
	}
	if found, err := changed.values(); err != nil || !reflect.DeepEqual(found, wanted) {
		return nil
	}
	return changed
}

// values returns everything that the document says.
func (b *Blob) values() (map[string]any, error) {
	data, _, err := b.object()
	if err != nil {
		return nil, err
	}
	top := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&top); err != nil {
		return nil, err
	}
	canonical := make(map[string]any, len(top))
	for key, value := range top {
		canonical[jsontext.CanonicalKey(key)] = value
	}
	return canonical, nil
}
