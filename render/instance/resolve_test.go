// SPDX-License-Identifier: Apache-2.0

package instance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/selection"
)

// decided returns a selection of "name:version,version" words; the default version has a star behind it, and an
// application that is not selected a minus before it.
func decided(words string) selection.Result {
	var result selection.Result
	for word := range strings.FieldsSeq(words) {
		name, versions, _ := strings.Cut(word, ":")
		d := selection.Decision{Selected: !strings.HasPrefix(name, "-"), Source: "catalog", Reason: "spec.exclude names it"}
		d.Application = &catalog.Application{Name: strings.TrimPrefix(name, "-"), APIVersion: "apps.kubermatic.k8c.io/v1", Group: "apps.kubermatic.k8c.io"}
		for version := range strings.SplitSeq(versions, ",") {
			text, isDefault := strings.CutSuffix(version, "*")
			if isDefault {
				d.Application.DefaultVersion = text
			}
			if text != "" {
				d.Application.Versions = append(d.Application.Versions, text)
			}
		}
		d.Versions = d.Application.Versions
		if d.Selected {
			result.Selected++
		}
		result.Decisions = append(result.Decisions, d)
	}
	return result
}

func TestTheVersionOfAnInstance(t *testing.T) {
	const versions = "app:1.0.0,1.1.0*,v1.2.0,2.0.0,2.1.0-rc.1,stable"
	for _, test := range []struct{ name, version, catalog, want, problem string }{
		{name: "one of them", version: "1.0.0", want: "1.0.0"},
		{name: "one with a v, named without", version: "1.2.0", want: "v1.2.0"},
		{name: "one without a v, named with", version: "v1.0.0", want: "1.0.0"},
		{name: "one that is not semantic", version: "stable", want: "stable"},
		{name: "one that looks like a range", version: "1", catalog: "app:1,1.5.0", want: "1"},
		{name: "the default version", want: "1.1.0"},
		{name: "a range", version: "~1.1", want: "1.1.0"},
		{name: "the highest of a range, with a v", version: "^1", want: "v1.2.0"},
		{name: "no pre-release in a range", version: "*", want: "2.0.0"},
		{name: "a pre-release that the range names", version: ">=2.1.0-0", want: "2.1.0-rc.1"},
		{name: "a range of two", version: ">=1.0.0 <1.2.0", want: "1.1.0"},
		{name: "the first of equal ones", version: "^1", catalog: "app:v1.0.0,1.0.0", want: "v1.0.0"},
		{name: "a definition without versions", catalog: "app", want: ""},
		{name: "an exact version that is gone", version: "1.0.1", problem: "the application app has no version 1.0.1, only 1.0.0, 1.1.0, v1.2.0, 2.0.0, 2.1.0-rc.1, stable"},
		{name: "an exact version that is a range of none", version: "3.0.0+build", problem: "the application app has no version 3.0.0+build"},
		{name: "a range without a version", version: "~1.3", problem: `no version of the application app is in the range "~1.3"; it has 1.0.0`},
		{name: "a typo", version: "newest", problem: `"newest" is neither a version of the application app nor a range; it has 1.0.0`},
		{name: "no default version: the highest, as in KKP", catalog: "app:1.0.0,10.1.0,9.0.0", want: "10.1.0"},
		{name: "no default version: a pre-release too, as in KKP", catalog: "app:1.0.0,2.0.0-rc.1", want: "2.0.0-rc.1"},
		{name: "no default version: the first of equal ones", catalog: "app:v1.0.0,1.0.0", want: "v1.0.0"},
		{name: "no default version: the first that is not semantic, as in KKP", catalog: "app:stable,1.0.0,2.0.0", want: "stable"},
		{name: "no default version: the highest behind a semantic one", catalog: "app:1.0.0,edge,2.0.0", want: "2.0.0"},
		{name: "an application that is gone", catalog: "other:1.0.0", problem: `no source has an application "app"`},
		{name: "an application that is excluded", catalog: "-app:1.0.0", problem: "the application app is not selected: spec.exclude names it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.catalog == "" {
				test.catalog = versions
			}
			resolved, unresolved := instance.Resolve(specs(t, "{i: {application: app, version: '"+test.version+"'}}"), decided(test.catalog))
			switch {
			case test.problem != "":
				if len(resolved) > 0 || len(unresolved) != 1 || !strings.HasPrefix(unresolved[0].Reason, test.problem) {
					t.Fatalf("got %v and %v, want %s", resolved, unresolved, test.problem)
				}
				if gone := strings.Contains(test.catalog, " app") || !strings.HasPrefix(test.catalog, "app:"); unresolved[0].OfVersion == gone {
					t.Errorf("the version is to blame: %v", unresolved[0].OfVersion)
				}
			case len(resolved) != 1 || len(unresolved) > 0 || resolved[0].Resolved != test.want:
				t.Errorf("got %v and %v, want %s", resolved, unresolved, test.want)
			}
		})
	}
}

// The versions that rules of the selection drop are not there for instances.
func TestADefaultVersionThatIsNotSelected(t *testing.T) {
	result := decided("app:1.0.0,1.1.0*")
	result.Decisions[0].Versions = []string{"1.0.0"}
	_, unresolved := instance.Resolve(specs(t, "{app: {}}"), result)
	if want := "spec.instances[app].version: is missing, and the default version 1.1.0 of app is not selected; name one of 1.0.0"; len(unresolved) != 1 || unresolved[0].String() != want {
		t.Errorf("got %v, want %s", unresolved, want)
	}
	if resolved, _ := instance.Resolve(specs(t, "{app: {version: ^1}}"), result); len(resolved) != 1 || resolved[0].Resolved != "1.0.0" {
		t.Errorf("a range: %v", resolved)
	}
}

// Without a default version, too, only the versions count that the selection has.
func TestTheHighestVersionIsOneOfTheSelected(t *testing.T) {
	result := decided("app:1.0.0,2.0.0")
	result.Decisions[0].Versions = []string{"1.0.0"}
	resolved, unresolved := instance.Resolve(specs(t, "{app: {}}"), result)
	if len(resolved) != 1 || resolved[0].Resolved != "1.0.0" {
		t.Errorf("got %v and %v", resolved, unresolved)
	}
}

// A catalog may have thousands of versions, and a selection hundreds of instances: each is resolved without a sort.
func TestARangeIsResolvedInOnePass(t *testing.T) {
	allocated := func(n int) float64 {
		var words []string
		for i := range n {
			words = append(words, fmt.Sprintf("1.0.%d", (i*7)%n))
		}
		result, all := decided("app:"+strings.Join(words, ",")), specs(t, "{app: {version: ^1}}")
		return testing.AllocsPerRun(5, func() { instance.Resolve(all, result) })
	}
	if few, many := allocated(100), allocated(3_000); many > 32*few {
		t.Errorf("30 times as many versions allocate %.0f times instead of %.0f", many, few)
	}
}

func TestTheApplicationThatResemblesAMissingOne(t *testing.T) {
	_, unresolved := instance.Resolve(specs(t, "{a: {application: alert-rule}, b: {application: other}}"), decided("alert-rules:1.0.0"))
	if len(unresolved) != 2 || unresolved[0].Nearest != "alert-rules" || unresolved[1].Nearest != "" {
		t.Errorf("got %+v", unresolved)
	}
}

func TestWhatDependsOnAnUnresolvedInstanceIsUnresolved(t *testing.T) {
	resolved, unresolved := instance.Resolve(
		specs(t, "{a: {application: app, dependsOn: [b]}, b: {application: app, dependsOn: [c]}, c: {application: gone}, d: {application: app}}"), decided("app:1.0.0*"))
	var left, out []string
	for _, r := range resolved {
		left = append(left, r.Name)
	}
	for _, u := range unresolved {
		out = append(out, u.String())
	}
	if want := []string{"d"}; !slices.Equal(left, want) {
		t.Errorf("resolved: %q, want %q", left, want)
	}
	want := []string{
		"spec.instances[a].dependsOn: the instance b cannot be installed", "spec.instances[b].dependsOn: the instance c cannot be installed",
		`spec.instances[c].application: no source has an application "gone"`,
	}
	if !slices.Equal(out, want) {
		t.Errorf("unresolved: %q, want %q", out, want)
	}
}

// The same instances are for clusters with different backends.
func TestThePlatformLeavesBackendsOut(t *testing.T) {
	const instances = "{a: {application: app}, b: {application: app, backend: ApplicationInstallation}, c: {application: app, backend: ApplicationInstallation, dependsOn: [b]}}"
	for _, test := range []struct {
		name     string
		platform []string
		left     []string
		errors   int
	}{
		{"no list leaves none out", nil, []string{"a", "b", "c"}, 0},
		{"the default backend of the definition", []string{"Helm"}, []string{"a"}, 0},
		{"the other one", []string{"ApplicationInstallation"}, []string{"b", "c"}, 0},
		{"both", []string{"ApplicationInstallation", "Helm"}, []string{"a", "b", "c"}, 0},
		{"neither", []string{"Terraform"}, nil, 0},
		{"one that does not exist", []string{"Helm", "helm"}, []string{"a"}, 1},
		{"an empty list", []string{}, nil, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := specs(t, instances)
			if errs := instance.Restrict(list, test.platform, field.NewPath("spec", "platform", "backends")); len(errs) != test.errors {
				t.Errorf("errors: %v", errs)
			}
			resolved, unresolved := instance.Resolve(list, decided("app:1.0.0*"))
			var left []string
			for _, r := range resolved {
				left = append(left, r.Name)
			}
			if !slices.Equal(left, test.left) || len(left)+len(unresolved) != 3 {
				t.Errorf("resolved: %q, want %q; unresolved: %v", left, test.left, unresolved)
			}
			for _, u := range unresolved {
				want := fmt.Sprintf("spec.instances[%s].backend: its backend %s is not in spec.platform.backends", u.Name, u.Value)
				if u.String() != want || !u.OffPlatform {
					t.Errorf("unresolved: %q, want %q", u, want)
				}
			}
			if unmatched := mention.UnmatchedInstances(unresolved); unmatched != nil {
				t.Errorf("they count as unmatched: %v", unmatched)
			}
		})
	}
}

func TestAVersionThatTheSpecNames(t *testing.T) {
	for _, test := range []struct {
		version, resolved string
		named             bool
	}{
		{"1.0.0", "1.0.0", true}, {"1.0.0", "v1.0.0", true}, {"v1.0.0", "1.0.0", true}, {"stable", "stable", true},
		{"~1.0", "1.0.0", false}, {"", "1.0.0", false}, {"1.0.0", "1.0.1", false}, {"stable", "vstable", false},
	} {
		if got := specs(t, "{a: {version: '"+test.version+"'}}")[0].IsNamed(test.resolved); got != test.named {
			t.Errorf("%q names %q: %v", test.version, test.resolved, got)
		}
	}
}
