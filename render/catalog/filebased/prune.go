package filebased

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Keep says what stays of a package.
type Keep struct {
	Package string
	// Bundle reports whether a channel keeps a bundle. Nil keeps all.
	Bundle func(channel string, bundle *Bundle) bool
	// DefaultChannel, unless it is empty, takes the place of that of the catalog.
	DefaultChannel string
	// Strict makes an error of every decision.
	Strict bool
}

// Prune returns a catalog with the packages to keep, and with what their predicates keep of them. Entries are
// removed whole: the others keep their bytes, with the names of bundles that went, as OLM compares these with what
// is installed. Where the rest of a channel is not valid, Prune drops or adds entries, and says so in a decision,
// by these rules, again and again in this order:
//
//  1. Of several heads the highest version stays. To another head it adds the entries between, if those that
//     replace each other lead there, or to an entry that skips it; otherwise it drops that head.
//  2. To a stranded entry it adds the entries between in the same way, or drops it.
//  3. Without a head, or with a cycle, it drops the lowest version of those that replace each other.
//
// Channels without entries, bundles without channels and deprecations of what went go too. What else the packages
// have stays as it is, and so do the blobs of no package. The error is a *PruneError, or an *InvalidError when the
// result is not valid. Decisions are returned beside a *PruneError as well.
func (c *Catalog) Prune(keeps []Keep) (*Catalog, []Decision, error) {
	keeps = slices.SortedStableFunc(slices.Values(keeps), func(x, y Keep) int { return cmp.Compare(x.Package, y.Package) })
	var decisions []Decision
	var refused PruneError
	blobs := slices.Clone(c.Others)
	for i, keep := range keeps {
		pruned := packagePruning{keep: keep, result: c.Package(keep.Package)}
		if i > 0 && keeps[i-1].Package == keep.Package {
			pruned.refuse("is named twice")
		} else {
			pruned.run()
		}
		decisions = append(decisions, pruned.decisions...)
		refused.Problems = append(refused.Problems, pruned.problems...)
		blobs = append(blobs, pruned.blobs...)
	}
	if len(refused.Problems) > 0 {
		return nil, decisions, &refused
	}
	var found report
	loaded := assemble(blobs, nil, &found)
	if err := found.err(); err != nil {
		return nil, decisions, fmt.Errorf("checking the pruned catalog: %w", err)
	}
	return loaded, decisions, nil
}

// packagePruning prunes a package.
type packagePruning struct {
	keep   Keep
	result *Package

	channels  map[string]map[string]bool // names of the entries that stay, by channel
	bundles   map[string]bool
	blobs     []*Blob
	decisions []Decision
	problems  []PruneProblem
}

func (p *packagePruning) refuse(format string, args ...any) {
	p.problems = append(p.problems, PruneProblem{Package: p.keep.Package, Message: fmt.Sprintf(format, args...)})
}

func (p *packagePruning) run() {
	if p.result == nil {
		p.refuse("there is no such package in the catalog")
		return
	}
	p.channels, p.bundles = map[string]map[string]bool{}, map[string]bool{}
	byName := map[string]*Bundle{}
	for _, bundle := range p.result.Bundles {
		byName[bundle.Name] = bundle
	}
	for _, channel := range p.result.Channels {
		p.channel(channel, byName)
	}
	p.checkChannels()
	if len(p.problems) > 0 {
		return
	}
	for _, blob := range p.result.Blobs {
		p.add(blob)
	}
}

func (p *packagePruning) channel(channel *Channel, bundles map[string]*Bundle) {
	c := channelPruning{
		channel: channel, all: map[string]*Entry{}, bundles: bundles,
		kept: map[string]bool{}, dropped: map[string]bool{}, decided: map[string]Decision{},
	}
	for i, entry := range channel.Entries {
		c.all[entry.Name] = &channel.Entries[i]
		if p.keep.Bundle == nil || p.keep.Bundle(channel.Name, bundles[entry.Name]) {
			c.kept[entry.Name] = true
		}
	}
	c.repair()
	if len(c.kept) > 0 {
		p.channels[channel.Name] = c.kept
	}
	for _, entry := range channel.Entries {
		if c.kept[entry.Name] {
			p.bundles[entry.Name] = true
		}
		if decision, isDecided := c.decided[entry.Name]; isDecided {
			decision.Package = p.keep.Package
			p.decisions = append(p.decisions, decision)
		}
	}
}

func (p *packagePruning) checkChannels() {
	name := cmp.Or(p.keep.DefaultChannel, p.result.DefaultChannel)
	exists := slices.ContainsFunc(p.result.Channels, func(c *Channel) bool { return c.Name == name })
	var kept []string
	for _, channel := range p.result.Channels {
		if p.channels[channel.Name] != nil {
			kept = append(kept, channel.Name)
		}
	}
	switch {
	case len(kept) == 0:
		p.refuse("no bundle is kept in any channel")
	case !exists:
		p.refuse("there is no channel %s, which should be the default channel", quote(name))
	case p.channels[name] == nil:
		p.refuse("no bundle is kept in the default channel %s: name another default channel: %s", quote(name), nameList(kept))
	}
	if p.keep.Strict && len(p.decisions) > 0 {
		p.refuse("other entries than those that match would be kept, which strict forbids: %s", excerpt.List(p.decisions, maxNames, Decision.String))
	}
}
