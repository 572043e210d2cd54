// SPDX-License-Identifier: Apache-2.0

package safeguard_test

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// instances reads "name=application:version" words, with fields of the identity behind it: ",releaseName=x".
func instances(words string) []safeguard.Definition {
	var list []safeguard.Definition
	for word := range strings.FieldsSeq(words) {
		word, fields, _ := strings.Cut(word, ",")
		name, rest, _ := strings.Cut(word, "=")
		application, version, _ := strings.Cut(rest, ":")
		d := safeguard.Definition{
			APIVersion: "helm.toolkit.fluxcd.io/v2", Kind: "HelmRelease", Namespace: "apps", Name: name,
			Instance: name, Application: application, Identity: map[string]string{},
		}
		if version != "" {
			d.Versions = []string{version}
		}
		for field := range strings.SplitSeq(fields, ",") {
			key, value, _ := strings.Cut(field, "=")
			switch key {
			case "":
			case "object":
				d.Name = value
			case "namespace":
				d.Namespace = value
			default:
				d.Identity[key] = value
			}
		}
		list = append(list, d)
	}
	return list
}

func TestAnInstanceIsComparedByItsName(t *testing.T) {
	for _, test := range []struct {
		name, older, newer string
		want               []string
	}{
		{"nothing changes", "a=app:1.0.0 b=app:1.0.0", "a=app:1.0.0 b=app:1.0.0", nil},
		{"one comes", "a=app:1.0.0", "a=app:1.0.0 b=app:1.0.0", nil},
		{"one goes", "a=app:1.0.0 b=app:1.0.0", "a=app:1.0.0", []string{"Removal b 1.0.0"}},
		{"one without a version goes", "a=app", "", []string{"Removal a"}},
		{"a patch", "a=app:1.0.0", "a=app:1.0.1", []string{"InstanceUpgrade a 1.0.0>1.0.1"}},
		{"a major", "a=app:1.9.0", "a=app:2.0.0", []string{"InstanceUpgrade a 1.9.0>2.0.0"}},
		{"compared as numbers", "a=app:9.0.0", "a=app:10.0.0", []string{"InstanceUpgrade a 9.0.0>10.0.0"}},
		{"a lower version", "a=app:1.1.0", "a=app:1.0.0", []string{"VersionRemoval a 1.1.0 1.1.0>1.0.0"}},
		{"a pre-release of the same", "a=app:1.1.0", "a=app:1.1.0-rc.1", []string{"VersionRemoval a 1.1.0 1.1.0>1.1.0-rc.1"}},
		{"another text of the same version", "a=app:v1.1.0", "a=app:1.1.0", []string{"InstanceUpgrade a v1.1.0>1.1.0"}},
		{"versions that are not semantic", "a=app:stable", "a=app:edge", []string{"InstanceUpgrade a stable>edge"}},
		{"its version goes", "a=app:1.0.0", "a=app", []string{"InstanceUpgrade a 1.0.0>"}},
		{"another application", "a=app:1.0.0", "a=other:1.0.0", []string{"IdentityChange a application app>other"}},
		{"another release", "a=app:1.0.0,releaseName=a", "a=app:1.0.0,releaseName=b", []string{"IdentityChange a releaseName a>b"}},
		{"another chart with another version", "a=app:1.0.0,chart=x", "a=app:1.1.0,chart=y",
			[]string{"IdentityChange a chart x>y", "InstanceUpgrade a 1.0.0>1.1.0"}},
		{"another object", "a=app:1.0.0", "a=app:1.0.0,object=z",
			[]string{"IdentityChange a object HelmRelease.helm.toolkit.fluxcd.io apps/a>HelmRelease.helm.toolkit.fluxcd.io apps/z"}},
		{"the namespaces of all", "a=app:1.0.0,targetNamespace=x,storageNamespace=x", "a=app:1.0.0,targetNamespace=y,storageNamespace=y",
			[]string{"IdentityChange a storageNamespace x>y", "IdentityChange a targetNamespace x>y"}},
		{"what the record does not know", "a=app:1.0.0", "a=app:1.0.0,releaseName=b", nil},
		{"two that swap their objects", "a=app:1.0.0 b=app:1.0.0", "a=app:1.0.0,object=b b=app:1.0.0,object=a", []string{
			"IdentityChange a object HelmRelease.helm.toolkit.fluxcd.io apps/a>HelmRelease.helm.toolkit.fluxcd.io apps/b",
			"IdentityChange b object HelmRelease.helm.toolkit.fluxcd.io apps/b>HelmRelease.helm.toolkit.fluxcd.io apps/a",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, lines(safeguard.Compare(instances(test.older), instances(test.newer))), test.want)
		})
	}
}

// An instance has the name of its definition as often as not.
func TestAnInstanceIsNotItsDefinition(t *testing.T) {
	both := append(definitions("app:1.0.0,2.0.0"), instances("app=app:1.0.0")...)
	equal(t, lines(safeguard.Compare(both, definitions("app:1.0.0,2.0.0"))), []string{"Removal app 1.0.0"})
	equal(t, lines(safeguard.Compare(both, instances("app=app:1.0.0"))), []string{"Removal app 1.0.0,2.0.0"})
	equal(t, lines(safeguard.Compare(definitions("app:1.0.0"), instances("app=app:1.0.0"))), []string{"Removal app 1.0.0"})
	if changes := safeguard.Compare(both, both); changes != nil {
		t.Errorf("nothing has changed: %v", changes)
	}
}

func TestAnInstanceComesFromElsewhere(t *testing.T) {
	of := func(origin string) []safeguard.Definition {
		all := instances("a=app:1.0.0")
		all[0].Origins = safeguard.Origins{strings.Repeat(origin, 8)}
		return all
	}
	equal(t, lines(safeguard.Compare(of("x"), of("y"))), []string{"SourceChange a 1.0.0"})
	equal(t, lines(safeguard.Compare(of("x"), of("x"))), []string(nil))
	upgraded := of("y")
	upgraded[0].Versions = []string{"1.1.0"}
	equal(t, lines(safeguard.Compare(of("x"), upgraded)), []string{"InstanceUpgrade a 1.0.0>1.1.0"})
}

// A live object that an instance is applied over loses no version, but may become another release.
func TestAnInstanceAdoptsARelease(t *testing.T) {
	live := instances("a=app:2.0.0,releaseName=old,storageNamespace=apps")
	live[0].Instance, live[0].Application = "", ""
	equal(t, lines(safeguard.Adopt(live, instances("a=app:1.0.0,releaseName=new,storageNamespace=apps"))), []string{"IdentityChange a releaseName old>new"})
	equal(t, lines(safeguard.Adopt(live, instances("a=app:1.0.0,releaseName=old,storageNamespace=apps"))), []string(nil))
	equal(t, lines(safeguard.Adopt(live, instances("b=app:1.0.0,releaseName=new"))), []string(nil))
}

func TestAnUpgradeToAnotherMajor(t *testing.T) {
	for _, test := range []struct {
		from, to string
		major    bool
	}{
		{"1.0.0", "1.9.0", false}, {"1.9.0", "2.0.0", true}, {"v1.0.0", "1.0.1", false}, {"0.1.0", "0.2.0", false},
		{"2.0.0-rc.1", "2.0.0", false}, {"1.0.0", "stable", true}, {"stable", "1.0.0", true}, {"", "1.0.0", true}, {"1.0.0", "", true},
	} {
		change := safeguard.Change{Reason: v1alpha1.InstanceUpgradeReason, From: test.from, To: test.to}
		if got := change.IsMajor(); got != test.major || change.Loses() {
			t.Errorf("from %q to %q: a major is %v, a loss %v", test.from, test.to, got, change.Loses())
		}
	}
}
