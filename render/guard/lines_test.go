// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

const kkpGroup = "apps.kubermatic.k8c.io"

func definitionKey(name string) safeguard.Key {
	return safeguard.Key{Group: kkpGroup, Kind: "ApplicationDefinition", Name: name}
}

func line(t *testing.T, text string) approval.Line {
	t.Helper()
	line, err := approval.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func numbered(to int) (versions []string) {
	for i := 1; i <= to; i++ {
		versions = append(versions, fmt.Sprintf("1.0.%d", i))
	}
	return versions
}

// Each change has the lines that are printed for it. Other lines may name it as well.
func TestTheLinesOfEachChange(t *testing.T) {
	argocd, release := definitionKey("argocd"), safeguard.Key{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "monitoring", Name: "grafana"}
	of := func(reason string, edits ...func(*safeguard.Change)) safeguard.Change {
		c := safeguard.Change{Reason: reason, Key: argocd}
		for _, edit := range edits {
			edit(&c)
		}
		return c
	}
	versions := func(versions ...string) func(*safeguard.Change) {
		return func(c *safeguard.Change) { c.Versions = versions }
	}
	live := func(c *safeguard.Change) { c.Live = true }
	ofInstance := func(c *safeguard.Change) { c.Instance, c.Application, c.Key = "grafana", "monitoring", release }
	changing := func(field, from, to string) func(*safeguard.Change) {
		return func(c *safeguard.Change) { c.Field, c.From, c.To = field, from, to }
	}
	key := func(key safeguard.Key) func(*safeguard.Change) { return func(c *safeguard.Change) { c.Key = key } }
	channel := func(name string) func(*safeguard.Change) { return func(c *safeguard.Change) { c.Channel = name } }
	const object = "ApplicationDefinition.apps.kubermatic.k8c.io/argocd"
	for _, test := range []struct {
		name               string
		change             safeguard.Change
		lines, also, never string // separated by spaces
	}{
		{"a definition is gone", of(v1alpha1.RemovalReason, versions("1.0.0", "2.0.0")),
			"argocd", object + " ApplicationDefinition/argocd", "argocd/1.0.0 argocd/* argocd:live argocd:identity argo Instance/argocd " + object + ":live Application/argocd"},
		{"versions are gone", of(v1alpha1.VersionRemovalReason, versions("1.0.0", "2.0.0")),
			"argocd/1.0.0 argocd/2.0.0", "argocd/*", "argocd argocd/1.0.01 argocd/*:live " + object + " argocd/*:source"},
		{"a version without a line of its own is gone", of(v1alpha1.VersionRemovalReason, versions("1.0.0", "-x", "1 2")), "argocd/*", "argocd/1.0.0", "argocd"},
		{"a version without a text is gone", of(v1alpha1.VersionRemovalReason, versions("")), "argocd/*", "", "argocd"},
		{"20 versions are gone", of(v1alpha1.VersionRemovalReason, versions(numbered(20)...)), "argocd/" + strings.Join(numbered(20), " argocd/"), "argocd/*", "argocd"},
		{"21 versions are gone", of(v1alpha1.VersionRemovalReason, versions(numbered(21)...)), "argocd/*", "argocd/1.0.7", "argocd"},
		{"a live definition is replaced", of(v1alpha1.AdoptionReason, versions("0.9.0"), live), "argocd/0.9.0:live", "argocd/*:live", "argocd/0.9.0 argocd/* argocd:live argocd"},
		{"more than 20 versions of a live one", of(v1alpha1.AdoptionReason, versions(numbered(21)...), live), "argocd/*:live", "argocd/1.0.1:live", "argocd/*"},
		{"what the platform reconciles is replaced", of(v1alpha1.AdoptionReason, live), "argocd:live", object + ":live", "argocd argocd/*:live"},
		{"a definition of an inventory is gone", of(v1alpha1.RemovalReason, live), "argocd:live", object + ":live", "argocd " + object},
		{"an object of an inventory is gone", of(v1alpha1.RemovalReason, live, key(release)),
			"HelmRelease.helm.toolkit.fluxcd.io/monitoring/grafana:live", "HelmRelease/monitoring/grafana:live",
			"HelmRelease.helm.toolkit.fluxcd.io/monitoring/grafana HelmRelease/grafana:live grafana:live Instance/grafana"},
		{"an object whose name has a colon", of(v1alpha1.RemovalReason, live, key(safeguard.Key{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:x"})),
			"ClusterRole.rbac.authorization.k8s.io/system:x:live", "ClusterRole/system:x:live", "ClusterRole/system:x Role/system:x:live"},
		{"an object whose name has capitals", of(v1alpha1.RemovalReason, live, key(safeguard.Key{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "Addon_Manager"})),
			"ClusterRole.rbac.authorization.k8s.io/Addon_Manager:live", "ClusterRole/Addon_Manager:live", "ClusterRole/addon_manager:live"},
		{"an identity", of(v1alpha1.IdentityChangeReason, changing("spec.release.prefix", "a-", "b-")), "argocd:identity", object + ":identity", "argocd argocd:source"},
		{"a source of versions", of(v1alpha1.SourceChangeReason, versions("1.0.0", "2.0.0")), "argocd/1.0.0:source argocd/2.0.0:source", "argocd/*:source", "argocd:source argocd/1.0.0"},
		{"a source of a definition without versions", of(v1alpha1.SourceChangeReason), "argocd:source", object + ":source", "argocd/*:source argocd"},
		{"a major", of(v1alpha1.MajorUpgradeReason, changing("", "2.9.0", "v3.1.0")), "argocd:major/3", "", "argocd:major/4 argocd"},
		{"a stranded version", of(v1alpha1.StrandedReason, key(safeguard.Key{Kind: "olm.package", Name: "plum"}), channel("stable"), versions("plum.v1.0.0")),
			"plum/plum.v1.0.0:channel/stable", "plum/*:channel/stable plum/*:channel/* plum/plum.v1.0.0:channel/*", "plum/plum.v1.0.0 plum/*:channel/fast plum"},
		{"a channel without a line of its own", of(v1alpha1.StrandedReason, key(safeguard.Key{Kind: "olm.package", Name: "plum"}), channel("the best"), versions("plum.v1.0.0")),
			"plum/plum.v1.0.0:channel/*", "plum/*:channel/*", "plum/plum.v1.0.0"},
		{"a function", of(v1alpha1.RemovalReason, key(safeguard.Key{Kind: "KRMFunction", Name: "a.e.com"})), "a.e.com", "", "a.e.com/* a"},

		{"an instance is gone", of(v1alpha1.RemovalReason, ofInstance, versions("1.0.0")),
			"Instance/grafana", "", "grafana monitoring Instance/grafana/1.0.0 Instance/grafana/* Instance/grafana:identity HelmRelease/monitoring/grafana"},
		{"an instance falls", of(v1alpha1.VersionRemovalReason, ofInstance, changing("", "1.1.0", "1.0.0"), versions("1.1.0")),
			"Instance/grafana/1.1.0", "Instance/grafana/*", "Instance/grafana Instance/grafana/1.0.0 monitoring/1.1.0"},
		{"the version of an instance is gone", of(v1alpha1.VersionRemovalReason, ofInstance, func(c *safeguard.Change) { c.Detail = "it is gone" }), "Instance/grafana", "", "Instance/grafana/*"},
		{"an upgrade", of(v1alpha1.InstanceUpgradeReason, ofInstance, changing("", "1.0.0", "2.0.0")), "Instance/grafana:upgrade/2.0.0", "Instance/grafana:upgrade/*", "Instance/grafana:upgrade/3.0.0 Instance/grafana"},
		{"an upgrade to a version without a line of its own", of(v1alpha1.InstanceUpgradeReason, ofInstance, changing("", "1.0.0", "my version")), "Instance/grafana:upgrade/*", "", "Instance/grafana"},
		{"an upgrade to no version", of(v1alpha1.InstanceUpgradeReason, ofInstance, changing("", "1.0.0", "")), "Instance/grafana:upgrade/*", "", "Instance/grafana"},
		{"another channel", of(v1alpha1.InstanceUpgradeReason, ofInstance, changing(safeguard.ChannelField, "stable", "fast")), "Instance/grafana:channel/fast", "Instance/grafana:channel/*", "Instance/grafana:channel/stable"},
		{"another release", of(v1alpha1.IdentityChangeReason, ofInstance, changing(safeguard.ReleaseField, "a", "b")), "Instance/grafana:identity", "", "Instance/grafana monitoring:identity"},
		{"a release that another instance gets", of(v1alpha1.IdentityChangeReason, ofInstance, changing(safeguard.InstanceField, "grafana", "b")), "Instance/grafana:identity", "", "Instance/grafana Instance/b:identity"},
		{"another source of an instance", of(v1alpha1.SourceChangeReason, ofInstance, versions("1.0.0")), "Instance/grafana:source", "", "Instance/grafana"},
		{"an operator that cannot be installed beside another", of(v1alpha1.IdentityChangeReason, ofInstance, changing(safeguard.OperatorConflictField, "a", "b")), "Instance/grafana:live", "", "Instance/grafana:identity"},
		{"a locked value", of(v1alpha1.LockedValueReason, ofInstance, changing(`auth.users["a:b/c"].x y`, "a", "b")), "", "Instance/grafana:locked", "Instance/grafana:locked/auth Instance/grafana"},
		{"a locked value that ends like a number", of(v1alpha1.LockedValueReason, ofInstance, changing("a#2", "a", "b")), "Instance/grafana:locked", "", "Instance/grafana:locked/a"},
		{"a locked value that is a star", of(v1alpha1.LockedValueReason, ofInstance, changing("*", "a", "b")), "Instance/grafana:locked/*", "Instance/grafana:locked", "Instance/grafana:locked/a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			printed := guard.Lines(test.change, guard.Fresh(nil))
			want := strings.Fields(test.lines)
			if test.lines == "" { // it has spaces
				want = []string{"Instance/grafana:locked/" + test.change.Field}
			}
			if !slices.Equal(printed, want) {
				t.Errorf("the lines are %q, want %q", printed, want)
			}
			for _, text := range append(strings.Fields(test.also), printed...) {
				if !guard.NamesAny(line(t, text), []safeguard.Change{test.change}) {
					t.Errorf("%s does not name it", text)
				}
			}
			for _, text := range strings.Fields(test.never) {
				if guard.NamesAny(line(t, text), []safeguard.Change{test.change}) {
					t.Errorf("%s names it", text)
				}
			}
		})
	}
}

func TestAFreshLineHasANumberAboveAllThatAreKnown(t *testing.T) {
	change := safeguard.Change{Reason: v1alpha1.VersionRemovalReason, Key: definitionKey("argocd"), Versions: []string{"1.0.0", "2.0.0"}}
	for _, test := range []struct{ known, want string }{
		{"", "argocd/1.0.0 argocd/2.0.0"},
		{"argocd argocd/1.0.0:live argocd/1.0.0:source argo/1.0.0", "argocd/1.0.0 argocd/2.0.0"},
		{"argocd/1.0.0", "argocd/1.0.0#2 argocd/2.0.0"},
		{"argocd/1.0.0#2 argocd/1.0.0", "argocd/1.0.0#3 argocd/2.0.0"},
		{"argocd/1.0.0#7 argocd/2.0.0#9 argocd/1.0.0#3", "argocd/1.0.0#8 argocd/2.0.0#10"},
		{"argocd/*#5", "argocd/1.0.0 argocd/2.0.0"}, // another body
	} {
		got := guard.Lines(change, guard.Fresh(approval.ParseAll(strings.Fields(test.known))))
		if !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("beside %q the lines are %q, want %q", test.known, got, test.want)
		}
	}
}

// Whatever a catalog or a cluster calls things: a printed line can be read again, with a number and without, and all printed
// lines together name all that is held.
func TestPrintedLinesNameWhatTheyArePrintedFor(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	text := func() string {
		odd := []string{"", "1.0.0", "v1", "a", "-", "*", "#", "#2", ":", "/", " ", "\n", "\t", "\x00", "é", "@", "%", "live", ":live", "sha256:", "Instance/", "~", "+", strings.Repeat("x", 1100)}
		var b strings.Builder
		for range random.IntN(4) {
			b.WriteString(odd[random.IntN(len(odd))])
		}
		return b.String()
	}
	one := func(values ...string) string { return values[random.IntN(len(values))] }
	reasons := []string{
		v1alpha1.RemovalReason, v1alpha1.IdentityChangeReason, v1alpha1.VersionRemovalReason, v1alpha1.StrandedReason, v1alpha1.AdoptionReason,
		v1alpha1.SourceChangeReason, v1alpha1.InstanceUpgradeReason, v1alpha1.LockedValueReason, v1alpha1.MajorUpgradeReason,
	}
	for range 20_000 {
		c := safeguard.Change{Reason: reasons[random.IntN(len(reasons))], Live: true, Field: text(), From: text(), To: text(), Channel: text()}
		switch random.IntN(4) {
		case 0:
			c.Reason = v1alpha1.RemovalReason
			c.Key = safeguard.Key{Group: one("", "rbac.authorization.k8s.io", "x"), Kind: one("ClusterRole", "Instance1", "ConfigMap"), Namespace: one("", "ns"), Name: one("a", "system:a", "system:a:live")}
		case 1:
			c.Instance, c.Application, c.Key = one("a", "a-1", "0"), "web", safeguard.Key{Kind: "HelmRelease", Namespace: "ns", Name: "a"}
			c.Field = one(c.Field, safeguard.ChannelField, safeguard.OperatorConflictField)
		case 2:
			c.Key = safeguard.Key{Kind: one("olm.package", "KRMFunction"), Name: one("plum", "a.e.com")}
		default:
			c.Key = definitionKey(one("argocd", "a.b", "0", "live", "instance", "sha256"))
		}
		if c.Reason == v1alpha1.MajorUpgradeReason { // of versions that are semantic
			c.From, c.To = "1.0.0", one("2.0.0", "v18446744073709551615.0.0", "3.0.0-rc.1+b")
		}
		for range random.IntN(3) * random.IntN(13) {
			c.Versions = append(c.Versions, text())
		}
		var lines []approval.Line
		for _, printed := range guard.Lines(c, guard.Fresh(nil)) {
			for _, number := range []string{"", "#2", "#999999"} {
				read, err := approval.Parse(printed + number)
				if err != nil || read.Body() != printed || !guard.NamesAny(read, []safeguard.Change{c}) {
					t.Fatalf("%q is read as %+v (%v), of %+v", printed+number, read, err, c)
				}
			}
			lines = append(lines, line(t, printed))
		}
		if v := guard.Decide(nil, guard.Next{Live: []safeguard.Change{c}, Definitions: []safeguard.Definition{{Kind: "x"}}}, guard.Named{Lines: lines}); len(v.Held) > 0 {
			t.Fatalf("%q leave %+v", lines, v.Held)
		}
	}
}
