// SPDX-License-Identifier: Apache-2.0

package instance_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/selection"
)

// decidedPackage returns a selection of a package by its channels, as "stable:1.0.0,1.1.0 beta:2.0.0": each version
// replaces the one before. A version with a minus before it is not selected, and one with a cross is deprecated.
func decidedPackage(t *testing.T, channels string) selection.Result {
	t.Helper()
	var text, deprecations strings.Builder
	d := selection.Decision{Selected: true, Source: "catalog"}
	defaultChannel, _, _ := strings.Cut(channels, ":")
	fmt.Fprintf(&text, "schema: olm.package\nname: app\ndefaultChannel: %s\n", defaultChannel)
	seen, left := map[string]bool{}, map[string]bool{}
	for word := range strings.FieldsSeq(channels) {
		channel, versions, _ := strings.Cut(word, ":")
		fmt.Fprintf(&text, "---\nschema: olm.channel\npackage: app\nname: %s\nentries:\n", channel)
		replaces := ""
		for version := range strings.SplitSeq(versions, ",") {
			number := strings.TrimLeft(version, "-!")
			name := "app.v" + number
			fmt.Fprintf(&text, "- {name: %s, replaces: %q}\n", name, replaces)
			replaces = name
			if seen[name] {
				continue
			}
			seen[name] = true
			if strings.HasPrefix(version, "!") {
				fmt.Fprintf(&deprecations, "- {reference: {schema: olm.bundle, name: %s}, message: old}\n", name)
			}
			left[name] = strings.HasPrefix(version, "-")
		}
	}
	for name := range seen {
		fmt.Fprintf(&text, "---\nschema: olm.bundle\npackage: app\nname: %s\nimage: example.com/app:1\nproperties:\n- {type: olm.package, value: {packageName: app, version: %s}}\n",
			name, strings.TrimPrefix(name, "app.v"))
	}
	if deprecations.Len() > 0 {
		text.WriteString("---\nschema: olm.deprecations\npackage: app\nentries:\n" + deprecations.String())
	}
	format, err := catalog.Named("FileBased")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := format.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(text.String())}})
	if err != nil {
		t.Fatal(err)
	}
	d.Application = loaded.Applications[0]
	d.Kept, _, err = d.Application.Content.Keep(catalog.Keep{Version: func(_, name string) bool { return !left[name] }})
	if err != nil {
		t.Fatal(err)
	}
	for _, bundle := range catalog.PackageOf(d.Kept).Bundles {
		d.Versions = append(d.Versions, bundle.Name)
	}
	return selection.Result{Decisions: []selection.Decision{d}, Selected: 1}
}

func TestTheBundleOfAnInstance(t *testing.T) {
	const all = "stable:1.0.0,1.1.0,2.0.0 beta:2.0.0,3.0.0-rc.1"
	for _, test := range []struct{ name, spec, channels, want, problem string }{
		{name: "the highest one", want: "app.v3.0.0-rc.1 3.0.0-rc.1"},
		{name: "the highest of a channel", spec: "channels: [stable]", want: "app.v2.0.0 2.0.0"},
		{name: "the highest of channels", spec: "channels: [stable, beta]", want: "app.v3.0.0-rc.1 3.0.0-rc.1"},
		{name: "one that is not deprecated", channels: "stable:1.0.0,!2.0.0", want: "app.v1.0.0 1.0.0"},
		{name: "the highest deprecated one", channels: "stable:!1.0.0,!2.0.0", want: "app.v2.0.0 2.0.0"},
		{name: "one that is selected", channels: "stable:1.0.0,-2.0.0", want: "app.v1.0.0 1.0.0"},
		{name: "a range", spec: `version: "^1"`, want: "app.v1.1.0 1.1.0"},
		{name: "no pre-release in a range", spec: `version: ">=1"`, want: "app.v2.0.0 2.0.0"},
		{name: "a version", spec: "version: 1.0.0", want: "app.v1.0.0 1.0.0"},
		{name: "a version with a v", spec: "version: v1.0.0", want: "app.v1.0.0 1.0.0"},
		{name: "a bundle", spec: "version: app.v1.0.0", want: "app.v1.0.0 1.0.0"},
		{name: "the highest build of a version", spec: "version: 1.0.0", channels: "stable:1.0.0+1,1.0.0+2", want: "app.v1.0.0+2 1.0.0+2"},
		{name: "no such channel", spec: "channels: [stable, fast]",
			problem: `spec.instances[app].channels: the package app has no channel "fast", only beta, stable`},
		{name: "no such version", spec: "version: 1.2.0", problem: "spec.instances[app].version: the package app has no version 1.2.0, only 3.0.0-rc.1, 2.0.0, 1.1.0, 1.0.0"},
		{name: "no such version in the channel", spec: "version: 1.0.0\nchannels: [beta]", problem: "the package app in the channels beta has no version 1.0.0, only 3.0.0-rc.1, 2.0.0"},
		{name: "nothing in the range", spec: `version: "~1.2"`, problem: `no version of the package app is in the range "~1.2"; it has 3.0.0-rc.1`},
		{name: "a typo", spec: "version: newest", problem: `"newest" is neither a bundle nor a version of the package app, nor a range; it has`},
		{name: "a version that is not selected", channels: "stable:-1.0.0,2.0.0", spec: "version: 1.0.0", problem: "has no version 1.0.0, only 2.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.channels == "" {
				test.channels = all
			}
			spec := "{app: {backend: ClusterExtension}}"
			if test.spec != "" {
				spec = "app:\n  backend: ClusterExtension\n  " + strings.ReplaceAll(test.spec, "\n", "\n  ")
			}
			resolved, unresolved := instance.Resolve(specs(t, spec), decidedPackage(t, test.channels))
			switch {
			case test.problem == "" && len(resolved) == 1:
				if got := resolved[0].Resolved + " " + resolved[0].Installed(); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
			case len(unresolved) != 1 || test.problem == "" || !strings.Contains(unresolved[0].String(), test.problem) || !unresolved[0].OfVersion:
				t.Errorf("resolved %v, unresolved %v", resolved, unresolved)
			}
		})
	}
}

func TestTheBundleOfASubscription(t *testing.T) {
	for _, test := range []struct{ name, spec, channels, want, problem string }{
		{name: "the head of the default channel", channels: "stable:1.0.0,2.0.0 beta:3.0.0", want: "app.v2.0.0"},
		{name: "the head of a channel", spec: ", channels: [beta]", channels: "stable:1.0.0,2.0.0 beta:3.0.0", want: "app.v3.0.0"},
		{name: "a head that is not the highest", channels: "stable:2.0.0,1.0.0", want: "app.v1.0.0"},
		{name: "a deprecated head", channels: "stable:1.0.0,!2.0.0", want: "app.v2.0.0"},
		{name: "the head that is selected", channels: "stable:1.0.0,-2.0.0", want: "app.v1.0.0"},
		{name: "no such channel", spec: ", channels: [fast]", channels: "stable:1.0.0", problem: `has no channel "fast", only stable`},
	} {
		t.Run(test.name, func(t *testing.T) {
			resolved, unresolved := instance.Resolve(specs(t, "{app: {backend: Subscription"+test.spec+"}}"), decidedPackage(t, test.channels))
			switch {
			case test.problem == "" && len(resolved) == 1:
				choice, names := resolved[0].Choose(resolved[0].Decision)
				if resolved[0].Resolved != test.want || choice != instance.ChoiceDefault || fmt.Sprint(names) != "["+test.want+"]" {
					t.Errorf("got %s, %s of %s, want %s", resolved[0].Resolved, choice, names, test.want)
				}
			case len(unresolved) != 1 || test.problem == "" || !strings.Contains(unresolved[0].String(), test.problem):
				t.Errorf("resolved %v, unresolved %v", resolved, unresolved)
			}
		})
	}
}

func TestTheChoiceOfABundle(t *testing.T) {
	for spec, want := range map[string]string{
		"":                      "default [app.v2.0.0]",
		`, version: "^1"`:       "range [app.v1.1.0 app.v1.0.0]",
		", version: 1.0.0":      "exact [app.v1.0.0]",
		", version: app.v1.0.0": "exact [app.v1.0.0]",
		", version: 3.0.0":      "exact []",
	} {
		all := specs(t, "{app: {backend: ClusterExtension"+spec+"}}")
		choice, names := all[0].Choose(decidedPackage(t, "stable:1.0.0,1.1.0,2.0.0").Decisions[0])
		if got := fmt.Sprintf("%s %v", choice, names); got != want {
			t.Errorf("%q: %s, want %s", spec, got, want)
		}
	}
}

func TestAPackageNeedsABackend(t *testing.T) {
	resolved, _ := instance.Resolve(specs(t, "{app: {namespace: app}}"), decidedPackage(t, "stable:1.0.0"))
	_, err := instance.Build(context.Background(), resolved, instance.Surroundings{
		Overrides: func(string) map[string]any { return nil }, Access: func(string) backend.Access { return backend.Access{} },
	})
	if err == nil || !strings.Contains(err.Error(), "backend: is missing: a package is installed by ClusterExtension (OLM v1) or Subscription (OLM v0)") {
		t.Errorf("err = %v", err)
	}
}

func TestAPackageIsBuiltWithItsRange(t *testing.T) {
	resolved, _ := instance.Resolve(specs(t, "{app: {namespace: app, backend: ClusterExtension, version: 1.0 - 1.5, channels: [stable]}}"), decidedPackage(t, "stable:1.0.0,1.1.0"))
	built, err := instance.Build(context.Background(), resolved, instance.Surroundings{
		Overrides: func(string) map[string]any { return nil }, Access: func(string) backend.Access { return backend.Access{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(built[0].Objects[1].Object["spec"]); !strings.Contains(got, "version:>=1.0 <=1.5") || len(built[0].Notes) != 1 {
		t.Errorf("spec %s, notes %v", got, built[0].Notes)
	}
}

func TestChannelsThatAreRefused(t *testing.T) {
	many := make([]string, 257)
	for i := range many {
		many[i] = fmt.Sprint("c", i)
	}
	for want, channels := range map[string][]string{
		"channels: Too many: 257":      many,
		"channels[0]: Required value":  {""},
		"channels[0]: Too long":        {strings.Repeat("a", 254)},
		"channels[1]: Duplicate value": {"a", "a"},
	} {
		_, errs := instance.New("apps", map[string]v1alpha1.Instance{"a": {Channels: channels}}, field.NewPath("spec", "instances"))
		if err := errs.ToAggregate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
