// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// A Subscription has the name of a channel: another one is another stream of upgrades, whatever of the package is published.
func TestAnotherChannelOfAnInstanceIsHeld(t *testing.T) {
	const (
		fields = "application: plum, backend: Subscription, namespace: ns, createOperatorGroup: false, catalog: {namespace: olm, name: all}"
		moved  = `InstanceUpgrade plum: instance p would follow the channel "fast" instead of "stable", ` +
			`and OLM would upgrade it to what that has; to keep the channel, name it in spec.instances[p].channels`
		back = `InstanceUpgrade plum: instance p would follow the channel "stable" instead of "fast", ` +
			`and OLM would upgrade it to what that has; to keep the channel, name it in spec.instances[p].channels`
		stable, fast = "plum stable: 1.0.0 1.1.0>1.0.0 | fast: 1.1.0>1.0.0", "plum fast: 1.1.0>1.0.0 | stable: 1.0.0 1.1.0>1.0.0"
	)
	in := func(more ...string) string {
		return "{p: {" + strings.Join(append([]string{fields}, more...), ", ") + "}, other: {" + strings.Replace(fields, "plum", "other", 1) + "}}"
	}
	defaulting := func(channel string) func(*v1alpha1.CatalogSelectionSpec) {
		return func(s *v1alpha1.CatalogSelectionSpec) {
			s.Versions = []v1alpha1.VersionRule{{Names: []string{"plum"}, DefaultChannel: channel}}
		}
	}
	publish := func(s *v1alpha1.CatalogSelectionSpec) { s.Definitions = v1alpha1.DefinitionsPublish }
	older := func(last []safeguard.Definition) {
		for i := range last {
			last[i].Channel = ""
		}
	}
	for _, test := range []struct {
		name, before, after string
		change, edit        func(*v1alpha1.CatalogSelectionSpec)
		then, now           string
		read                func([]safeguard.Definition)
		safeguard           string
		want                []string
	}{
		{name: "the same default channel", then: stable, now: stable + " | slow: 1.0.0"},
		{name: "another default channel", then: stable, now: fast, want: []string{moved}},
		{name: "another default channel, of a package that is published", change: publish, then: stable, now: fast, want: []string{moved}},
		{name: "every upgrade is held", then: stable, now: fast, safeguard: v1alpha1.SafeguardHold, want: []string{moved}},
		{name: "no upgrade is held", then: stable, now: fast, safeguard: v1alpha1.SafeguardPublish},
		{name: "the former channel is gone", then: stable, now: "plum fast: 1.1.0>1.0.0", want: []string{moved}},
		{name: "another default channel than the named one", before: "channels: [stable]", after: "channels: [stable]", then: stable, now: fast},
		{name: "an edit names the channel", after: "channels: [stable]", then: stable, now: fast},
		{name: "an edit names another channel", after: "channels: [fast]", then: stable, now: stable, want: []string{moved}},
		{name: "an edit names no channel any more", before: "channels: [fast]", then: stable, now: stable, want: []string{back}},
		{name: "an edit names no channel any more, while the default one moves", before: "channels: [stable]", then: stable, now: fast, want: []string{moved}},
		{name: "an edit of the default channel", edit: defaulting("fast"), then: stable, now: stable + " | slow: 1.0.0", want: []string{moved}},
		{name: "another edit, while the default channel moves", after: "values: {env: []}", then: stable, now: fast, want: []string{moved}},
		{name: "a record of an older release", then: stable, now: fast, read: older},
	} {
		t.Run(test.name, func(t *testing.T) {
			change := func(s *v1alpha1.CatalogSelectionSpec) {
				s.Safeguards.OnInstanceUpgrade = test.safeguard
				if test.change != nil {
					test.change(s)
				}
			}
			words := func(text string) []string {
				return slices.DeleteFunc([]string{text}, func(w string) bool { return w == "" })
			}
			before := installing(t, in(words(test.before)...), change)
			last := recorded(t, before, operators(t, test.then))
			if test.read != nil {
				test.read(last)
			}
			after := installing(t, in(words(test.after)...), change)
			if test.edit != nil {
				test.edit(&after.Spec)
			}
			if got := decidedOn(t, last, after, operators(t, test.now)); !slices.Equal(got, test.want) {
				t.Errorf("held are\n%q, want\n%q", got, test.want)
			}
		})
	}
}

// A version that the spec names exactly is no name of a channel: a catalog that moves the default channel decides what comes after it.
func TestAnExactVersionNamesNoChannel(t *testing.T) {
	const instances = "{p: {application: plum, version: 1.1.0, backend: Subscription, namespace: ns, createOperatorGroup: false}}"
	cs := installing(t, instances, func(s *v1alpha1.CatalogSelectionSpec) {
		s.Definitions = v1alpha1.DefinitionsPublish
		s.Push = &v1alpha1.Push{URL: "oci://registry.example.org/operators", Type: v1alpha1.PushCatalogImage,
			Catalog: &v1alpha1.PushCatalog{Kind: v1alpha1.PushCatalogSource, Namespace: "olm"}}
	})
	last := recorded(t, cs, operators(t, "plum stable: 1.0.0 1.1.0>1.0.0 | fast: 1.0.0 1.1.0>1.0.0"))
	verdict, _ := decided(t, last, cs, operators(t, "plum fast: 1.0.0 1.1.0>1.0.0 | stable: 1.0.0 1.1.0>1.0.0"))
	holds(t, verdict, "Instance/p:channel/fast")
}
