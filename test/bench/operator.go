// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
)

// The documents of the format, with the fields in the order in which opm writes them as JSON.
type (
	olmPackage struct {
		Schema         string `json:"schema"`
		Name           string `json:"name"`
		DefaultChannel string `json:"defaultChannel"`
		Icon           *icon  `json:"icon,omitempty"`
		Description    string `json:"description,omitempty"`
	}
	icon struct {
		Data      string `json:"base64data"`
		MediaType string `json:"mediatype"`
	}
	olmChannel struct {
		Schema  string  `json:"schema"`
		Name    string  `json:"name"`
		Package string  `json:"package"`
		Entries []entry `json:"entries"`
	}
	entry struct {
		Name      string   `json:"name"`
		Replaces  string   `json:"replaces,omitempty"`
		Skips     []string `json:"skips,omitempty"`
		SkipRange string   `json:"skipRange,omitempty"`
	}
	olmBundle struct {
		Schema        string     `json:"schema"`
		Name          string     `json:"name"`
		Package       string     `json:"package"`
		Image         string     `json:"image"`
		Properties    []property `json:"properties"`
		RelatedImages []image    `json:"relatedImages"`
	}
	property struct {
		Type  string `json:"type"`
		Value any    `json:"value"`
	}
	image struct {
		Name  string `json:"name"`
		Image string `json:"image"`
	}
	olmDeprecations struct {
		Schema  string        `json:"schema"`
		Package string        `json:"package"`
		Entries []deprecation `json:"entries"`
	}
	deprecation struct {
		Reference reference `json:"reference"`
		Message   string    `json:"message"`
	}
	reference struct {
		Schema string `json:"schema"`
		Name   string `json:"name,omitempty"`
	}
)

// operator makes the documents of a package.
type operator struct {
	*rand.Rand
	name string
}

// version of a bundle.
type version struct{ major, minor, patch int }

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch) }

// chance reports true in so many percent of the cases.
func (o operator) chance(percent int) bool { return o.IntN(100) < percent }

func (o operator) bundleName(v version) string { return o.name + ".v" + v.String() }

func (o operator) documents() []any {
	versions := o.versions()
	channels := o.channels(versions)
	documents := []any{olmPackage{
		Schema: "olm.package", Name: o.name, DefaultChannel: channels[0].Name, Icon: o.icon(), Description: o.sentence(20),
	}}
	for _, channel := range channels {
		documents = append(documents, channel)
	}
	write := o.bundles()
	for _, v := range versions {
		documents = append(documents, write(v))
	}
	if len(versions) > 3 && o.chance(15) {
		documents = append(documents, o.deprecations(versions, channels))
	}
	if o.chance(10) {
		documents = append(documents, map[string]any{
			"schema": "example.com.lifecycle", "package": o.name, "name": "lifecycle", "phases": []string{o.sentence(4), o.sentence(4)},
		})
	}
	return documents
}

// versions returns those of the bundles, the lowest first: of most packages a few, of some more than fifty.
func (o operator) versions() (all []version) {
	n := 1 + o.IntN(10)
	if o.chance(30) {
		n += o.IntN(52)
	}
	next := version{minor: 1}
	for range n {
		switch {
		case o.chance(60):
			next.patch++
		case o.chance(85):
			next = version{next.major, next.minor + 1, 0}
		default:
			next = version{next.major + 1, 0, 0}
		}
		all = append(all, next)
	}
	return all
}

func (o operator) icon() *icon {
	if o.chance(15) {
		return nil
	}
	data := make([]byte, 1000+o.IntN(12_000))
	for i := range data {
		data[i] = byte(o.Uint32())
	}
	return &icon{Data: base64.StdEncoding.EncodeToString(data), MediaType: "image/png"}
}

// channels returns one with all versions, and some with the newest only.
func (o operator) channels(versions []version) []olmChannel {
	channels := []olmChannel{o.channel("stable", versions)}
	for _, name := range []string{"candidate", "fast"}[:o.IntN(3)] {
		channels = append(channels, o.channel(name, versions[o.IntN(len(versions)):]))
	}
	return channels
}

// channel returns a valid graph: versions replace each other, or skip one, or the newest skips all others.
func (o operator) channel(name string, versions []version) olmChannel {
	made := olmChannel{Schema: "olm.channel", Name: name, Package: o.name}
	ranges, all, skipped := o.chance(50), o.chance(10), false
	for i, v := range versions {
		one := entry{Name: o.bundleName(v)}
		if ranges && i > 0 {
			one.SkipRange = fmt.Sprintf(">=%s <%s", versions[max(0, i-3)], v)
		}
		switch {
		case all:
		case i == 0 && o.chance(30):
			one.Replaces = o.bundleName(version{}) // of no bundle
		case i > 1 && !skipped && o.chance(15):
			one.Replaces, one.Skips, skipped = o.bundleName(versions[i-2]), []string{o.bundleName(versions[i-1])}, true
		case i > 0:
			one.Replaces, skipped = o.bundleName(versions[i-1]), false
		}
		made.Entries = append(made.Entries, one)
	}
	if all {
		last := &made.Entries[len(versions)-1]
		for _, v := range versions[:len(versions)-1] {
			last.Skips = append(last.Skips, o.bundleName(v))
		}
	}
	return made
}

func (o operator) deprecations(versions []version, channels []olmChannel) olmDeprecations {
	made := olmDeprecations{Schema: "olm.deprecations", Package: o.name}
	for _, v := range versions[:1+o.IntN(3)] {
		made.Entries = append(made.Entries, deprecation{reference{"olm.bundle", o.bundleName(v)}, o.sentence(12)})
	}
	if len(channels) > 1 {
		made.Entries = append(made.Entries, deprecation{reference{"olm.channel", channels[1].Name}, o.sentence(12)})
	}
	if o.chance(20) {
		made.Entries = append(made.Entries, deprecation{reference{Schema: "olm.package"}, o.sentence(12)})
	}
	return made
}
