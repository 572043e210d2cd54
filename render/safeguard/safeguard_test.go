// SPDX-License-Identifier: Apache-2.0

package safeguard_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/safeguard"
)

const (
	kkp       = "apps.kubermatic.k8c.io"
	appKind   = "ApplicationDefinition"
	removal   = v1alpha1.RemovalReason
	versions  = v1alpha1.VersionRemovalReason
	major     = v1alpha1.MajorUpgradeReason
	adoption  = v1alpha1.AdoptionReason
	fromFirst = "catalog"
)

// definitions reads "name:version,version" words.
func definitions(words string) []safeguard.Definition {
	var list []safeguard.Definition
	for word := range strings.FieldsSeq(words) {
		name, rest, _ := strings.Cut(word, ":")
		d := safeguard.Definition{APIVersion: kkp + "/v1", Kind: appKind, Name: name, Source: fromFirst}
		if rest != "" {
			d.Versions = strings.Split(rest, ",")
		}
		list = append(list, d)
	}
	return list
}

// lines writes changes as "<reason> <name> <field> <versions> <from>><to>", where there are any.
func lines(changes []safeguard.Change) []string {
	var out []string
	for _, c := range changes {
		line := c.Reason + " " + c.Key.Name
		if c.Field != "" {
			line += " " + c.Field
		}
		if len(c.Versions) > 0 {
			line += " " + strings.Join(c.Versions, ",")
		}
		if c.From != "" || c.To != "" {
			line += " " + c.From + ">" + c.To
		}
		out = append(out, line)
	}
	return out
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestCompareNamesAllThatIsLost(t *testing.T) {
	for _, test := range []struct {
		name, older, newer string
		want               []string
	}{
		{"nothing was there", "", "a:1.0.0", nil},
		{"nothing is there any more", "b:2.0.0,1.0.0 a", "", []string{"Removal a", "Removal b 2.0.0,1.0.0"}},
		{"nothing changes", "a:1.0.0 b", "a:1.0.0 b", nil},
		{"another order is no change", "a:1.0.0,2.0.0 b", "b a:2.0.0,1.0.0", nil},
		{"what is added is no loss", "a:1.0.0", "a:1.0.0,1.1.0 b:1.0.0", nil},
		{"an application goes while one comes", "a:1.0.0", "b:1.0.0", []string{"Removal a 1.0.0"}},
		{"a name that is the beginning of another", "argo:1.0.0", "argocd:1.0.0", []string{"Removal argo 1.0.0"}},
		{"names differ in case", "a:1.0.0", "A:1.0.0", []string{"Removal a 1.0.0"}},
		{"a version goes", "a:1.0.0,1.1.0", "a:1.1.0", []string{"VersionRemoval a 1.0.0"}},
		{"a version goes while one comes", "a:1.0.0", "a:1.0.1", []string{"VersionRemoval a 1.0.0"}},
		{"lost versions keep the older order", "a:1.2.0,1.0.0,1.1.0", "a:1.0.0", []string{"VersionRemoval a 1.2.0,1.1.0"}},
		{"all versions go and the application stays", "a:1.0.0,1.1.0", "a", []string{"VersionRemoval a 1.0.0,1.1.0"}},
		{"the same version in other words is another one", "a:v1.0.0", "a:1.0.0", []string{"VersionRemoval a v1.0.0"}},
		{"versions come to one that had none", "a", "a:1.0.0", nil},
		{"a version goes and the major rises", "a:1.0.0", "a:2.0.0", []string{"MajorUpgrade a 1.0.0>2.0.0", "VersionRemoval a 1.0.0"}},
		{"all at once, by name", "c:1.0.0 b:1.0.0,1.1.0 a:1.0.0", "c:1.0.0,2.0.0 b:1.1.0",
			[]string{"Removal a 1.0.0", "VersionRemoval b 1.0.0", "MajorUpgrade c 1.0.0>2.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, lines(safeguard.Compare(definitions(test.older), definitions(test.newer))), test.want)
		})
	}
}

func TestTheMajorOfTheHighestVersionRises(t *testing.T) {
	for _, test := range []struct{ name, older, newer, want string }{
		{"to another major", "1.9.0", "1.9.0,2.0.0", "1.9.0>2.0.0"},
		{"over several majors", "1.0.0,0.9.0", "1.0.0,0.9.0,10.0.0,9.0.0", "1.0.0>10.0.0"},
		{"compared as numbers", "9.0.0", "9.0.0,10.0.0", "9.0.0>10.0.0"},
		{"with a leading v", "v1.0.0", "v1.0.0,v2.0.0", "v1.0.0>v2.0.0"},
		{"written with a v and without", "v1.0.0", "v1.0.0,2.0.0", "v1.0.0>2.0.0"},
		{"written short", "1", "1,2", "1>2"},
		{"to a pre-release", "1.9.0", "1.9.0,2.0.0-rc.1", "1.9.0>2.0.0-rc.1"},
		{"from a pre-release to its release", "2.0.0-rc.1", "2.0.0-rc.1,2.0.0", ""},
		{"from zero", "0.9.0", "0.9.0,1.0.0", "0.9.0>1.0.0"},
		{"by a minor", "1.0.0", "1.0.0,1.9.0", ""},
		{"by build metadata", "1.0.0+a", "1.0.0+a,1.0.0+b", ""},
		{"downwards", "2.0.0,1.0.0", "1.0.0,2.0.0,0.9.0", ""},
		{"below the highest", "3.0.0,1.0.0", "3.0.0,1.0.0,2.0.0", ""},
		{"where the older side has no semantic version", "stable", "stable,2.0.0", ""},
		{"where the newer side has no semantic version", "1.0.0", "1.0.0,latest", ""},
		{"beside what is no semantic version", "9.9.9.9,1.0.0", "9.9.9.9,1.0.0,2.0.0", "1.0.0>2.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{"MajorUpgrade a " + test.want}
			}
			equal(t, lines(safeguard.Compare(definitions("a:"+test.older), definitions("a:"+test.newer))), want)
		})
	}
}

func TestGroupKindAndNameAreTheIdentity(t *testing.T) {
	base := safeguard.Definition{APIVersion: kkp + "/v1", Kind: appKind, Name: "a", Source: "x", Versions: []string{"1.0.0"}}
	gone := []string{"Removal a 1.0.0"}
	for _, test := range []struct {
		name string
		edit func(*safeguard.Definition)
		want []string
	}{
		{"another version of the API is the same", func(d *safeguard.Definition) { d.APIVersion = kkp + "/v2" }, nil},
		{"another source is the same", func(d *safeguard.Definition) { d.Source = "y" }, nil},
		{"another group is another", func(d *safeguard.Definition) { d.APIVersion = "cozystack.io/v1" }, gone},
		{"another kind is another", func(d *safeguard.Definition) { d.Kind = "ClusterApplicationDefinition" }, gone},
		{"another name is another", func(d *safeguard.Definition) { d.Name = "b" }, gone},
	} {
		t.Run(test.name, func(t *testing.T) {
			newer := base
			test.edit(&newer)
			changes := safeguard.Compare([]safeguard.Definition{base}, []safeguard.Definition{newer})
			equal(t, lines(changes), test.want)
			for _, c := range changes {
				equal(t, c.Key, safeguard.Key{Group: kkp, Kind: appKind, Name: "a"})
			}
		})
	}
}

func TestChangesAreSortedWhateverTheOrder(t *testing.T) {
	older := definitions("b:1.0.0 a:1.0.0,0.9.0 c:1.0.0")
	other := definitions("b:2.0.0")[0]
	other.APIVersion = "cozystack.io/v1"
	older = append(older, other)
	other.Kind = "Another"
	older = append(older, other)
	newer := definitions("c a:2.0.0")
	want := []string{
		"MajorUpgrade a 1.0.0>2.0.0", "VersionRemoval a 1.0.0,0.9.0",
		"Removal b 1.0.0", "Removal b 2.0.0", "Removal b 2.0.0", "VersionRemoval c 1.0.0",
	}
	groups := []string{kkp, kkp, kkp, "cozystack.io", "cozystack.io", kkp}
	for range older {
		older = append(older[1:], older[0])
		newer[0], newer[1] = newer[1], newer[0]
		changes := safeguard.Compare(older, newer)
		equal(t, lines(changes), want)
		for i, c := range changes {
			equal(t, c.Key.Group, groups[i])
		}
		equal(t, changes[3].Key.Kind, "Another")
	}
}

func TestAdoptNamesWhatLiveDefinitionsLose(t *testing.T) {
	for _, test := range []struct {
		name, live, newer string
		want              []string
	}{
		{"the artifact has all versions", "a:1.0.0", "a:1.0.0,2.0.0", nil},
		{"the artifact lacks some", "a:1.0.0,2.0.0,0.9.0", "a:2.0.0", []string{"Adoption a 1.0.0,0.9.0"}},
		{"the artifact lacks all", "a:1.0.0", "a", []string{"Adoption a 1.0.0"}},
		{"the artifact does not have the application", "a:1.0.0", "b:1.0.0", nil},
		{"a live one without versions loses none", "a", "a:1.0.0", nil},
		{"a major that rises is no loss", "a:1.0.0", "a:1.0.0,2.0.0", nil},
		{"nothing lives", "", "a:1.0.0", nil},
		{"sorted by name", "c:1.0.0 a:1.0.0 b:1.0.0", "b c a", []string{"Adoption a 1.0.0", "Adoption b 1.0.0", "Adoption c 1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, lines(safeguard.Adopt(definitions(test.live), definitions(test.newer))), test.want)
		})
	}
}

func TestVersionsReadsWhatIsShapedLikeADefinition(t *testing.T) {
	version := func(v any) any { return map[string]any{"version": v} }
	for _, test := range []struct {
		name string
		spec any
		want []string
	}{
		{"no spec", nil, nil},
		{"a spec that is a list", []any{version("1")}, nil},
		{"no versions", map[string]any{}, nil},
		{"null for versions", map[string]any{"versions": nil}, nil},
		{"an empty list", map[string]any{"versions": []any{}}, nil},
		{"a mapping for the list", map[string]any{"versions": version("1")}, nil},
		{"a list of strings", map[string]any{"versions": []any{"1", "2"}}, nil},
		{"a null in the list", map[string]any{"versions": []any{nil, version("1")}}, []string{"1"}},
		{"a number for a version", map[string]any{"versions": []any{version(1.5), version("1.5")}}, []string{"1.5"}},
		{"an entry without a version", map[string]any{"versions": []any{map[string]any{"v": "1"}, version("2")}}, []string{"2"}},
		{"in the order of the list", map[string]any{"versions": []any{version("2"), version("1"), version("3")}}, []string{"2", "1", "3"}},
		{"what is no semantic version", map[string]any{"versions": []any{version("stable"), version("")}}, []string{"stable", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := map[string]any{}
			if test.spec != nil {
				object["spec"] = test.spec
			}
			equal(t, safeguard.Versions(object), test.want)
		})
	}
	equal(t, safeguard.Versions(nil), []string(nil))
}

// A live object that installs another application is not the instance.
func TestALiveInstanceOfAnotherApplicationIsNamed(t *testing.T) {
	live := safeguard.Definition{APIVersion: kkp + "/v1", Kind: "ApplicationInstallation", Namespace: "ns", Name: "a", Versions: []string{"1.0.0"}}
	next := live
	next.Instance, next.Application, next.Versions = "a", "web", []string{"2.0.0"}
	for _, test := range []struct {
		application string
		want        []string
	}{
		{"web", nil},
		{"", nil},
		{"database", []string{"IdentityChange a application database>web"}},
	} {
		live.Application = test.application
		equal(t, lines(safeguard.Adopt([]safeguard.Definition{live}, []safeguard.Definition{next})), test.want)
	}
}
