// SPDX-License-Identifier: Apache-2.0

package filebased

// texts have each text once.
type texts map[string]string

// share makes texts that are equal share their bytes.
func (t texts) share(all ...*string) {
	for _, text := range all {
		if known, isKnown := t[*text]; isKnown {
			*text = known
		} else if *text != "" {
			t[*text] = *text
		}
	}
}

// intern makes the names and facts of a package share their bytes: a bundle is named in several entries and channels,
// and provides the APIs of the one before. Nothing else may use the package yet.
func (p *Package) intern() {
	t := texts{}
	t.share(&p.Name)
	for _, bundle := range p.Bundles {
		t.share(&bundle.Name)
		for i := range bundle.Provides {
			t.share(&bundle.Provides[i].Group, &bundle.Provides[i].Version, &bundle.Provides[i].Kind)
		}
		for i := range bundle.Dependencies {
			one := &bundle.Dependencies[i]
			t.share(&one.Package, &one.VersionRange, &one.API.Group, &one.API.Version, &one.API.Kind, &one.Message)
		}
	}
	for _, channel := range p.Channels {
		for i := range channel.Entries {
			entry := &channel.Entries[i]
			t.share(&entry.Name, &entry.Replaces)
			for j := range entry.Skips {
				t.share(&entry.Skips[j])
			}
		}
	}
	for _, blob := range p.Blobs {
		t.share(&blob.Schema, &blob.Package, &blob.Name)
	}
}
