package filebased

import "slices"

// Heads maps each channel to its head: the bundle that no entry replaces or skips.
func (p *Package) Heads() map[string]*Bundle {
	bundles := p.bundlesByName()
	heads := make(map[string]*Bundle, len(p.Channels))
	for _, channel := range p.Channels {
		heads[channel.Name] = bundles[channel.head()]
	}
	return heads
}

func (p *Package) bundlesByName() map[string]*Bundle {
	byName := make(map[string]*Bundle, len(p.Bundles))
	for _, bundle := range p.Bundles {
		byName[bundle.Name] = bundle
	}
	return byName
}

// head returns the name of the only head, which a valid channel has.
func (c *Channel) head() string {
	return newGraph(c.Entries, func(string) bool { return true }).heads[0]
}

// Succeeds reports whether OLM finds a place in the channel for an installed bundle, which the catalog need not have:
// an entry that is the bundle, that replaces or skips it by name, or whose skipRange has its version. That one step
// is all there is to ask: OLM installs nothing that is not an entry, so each further step begins at one.
func (c *Channel) Succeeds(bundle string, version Version) bool {
	return slices.ContainsFunc(c.Entries, func(e Entry) bool { return e.Name == bundle || e.succeedsName(bundle) }) ||
		slices.ContainsFunc(c.Entries, func(e Entry) bool { return e.succeedsVersion(version) })
}

func (e Entry) succeedsName(bundle string) bool {
	return e.Replaces == bundle || slices.Contains(e.Skips, bundle)
}

func (e Entry) succeedsVersion(version Version) bool {
	within, err := parseRange(e.SkipRange)
	return err == nil && within(version.semver)
}
