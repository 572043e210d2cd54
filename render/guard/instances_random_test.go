// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// fleet is a catalog and a selection with instances, which random edits change, and what was published of them last.
type fleet struct {
	*testing.T
	random  *rand.Rand
	catalog map[string]defined
	cs      *v1alpha1.CatalogSelection

	// Of the last publication.
	last     guard.Published
	then     guard.Source
	result   *render.Result
	defined  map[string]defined
	selected *v1alpha1.CatalogSelection
}

func newFleet(t *testing.T, random *rand.Rand) *fleet {
	f := &fleet{T: t, random: random, catalog: map[string]defined{}}
	f.cs = edit(func(s *v1alpha1.CatalogSelectionSpec) {
		s.Instances = map[string]v1alpha1.Instance{}
		if random.IntN(2) > 0 {
			s.Definitions = v1alpha1.DefinitionsOmit
		}
	})
	for range 6 {
		f.editCatalog()
		f.editSpec()
	}
	return f
}

func (f *fleet) one(values ...string) string { return values[f.random.IntN(len(values))] }

// defined is a definition of the catalog.
type defined struct {
	label, namespace, version, chart string
	versions                         string // that it lacks
}

var allVersions = []string{"0.9.0", "1.0.0", "v1.0.0", "1.1.0", "1.2.0+build", "2.0.0", "1"}

// editCatalog adds a definition, removes one, or changes a field of one.
func (f *fleet) editCatalog() {
	name := f.one("web", "db", "net")
	d, has := f.catalog[name]
	if !has {
		d = defined{version: "1.0.0", chart: name}
		if name == "net" {
			d.label = "{apps.kubermatic.k8c.io/type: cni}"
		}
	}
	switch f.random.IntN(12) {
	case 0:
		delete(f.catalog, name)
		return
	case 1:
		d.label = f.one("{}", "{apps.kubermatic.k8c.io/type: cni}")
	case 2:
		d.namespace = f.one("", "shared")
	case 3:
		d.chart = f.one(name, name+"2")
	case 4, 5:
		d.version = f.one("", "1.0.0", "1.1.0", "2.0.0")
	default:
		version := " " + f.one(allVersions...) + " "
		if lacks := strings.ReplaceAll(d.versions, version, ""); lacks != d.versions {
			d.versions = lacks
		} else {
			d.versions += version
		}
	}
	f.catalog[name] = d
}

func (d defined) text(name string) string {
	text := fmt.Sprintf("apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: %s, labels: %s}\nspec:\n  method: helm\n", name, cmp.Or(d.label, "{}"))
	if d.namespace != "" {
		text += "  defaultNamespace: {name: shared}\n"
	}
	if d.version != "" {
		text += fmt.Sprintf("  defaultVersion: %q\n", d.version)
	}
	text += "  versions:\n"
	for _, version := range allVersions {
		if !strings.Contains(d.versions, " "+version+" ") {
			text += fmt.Sprintf("  - {version: %q, template: {source: {helm: {url: 'https://charts.example', chartName: %s, chartVersion: 1.0.0}}}}\n", version, d.chart)
		}
	}
	return text
}

// editSpec changes an instance, or what is selected.
func (f *fleet) editSpec() {
	spec := &f.cs.Spec
	name := f.one("web", "db", "b", "c")
	switch f.random.IntN(10) {
	case 0:
		delete(spec.Instances, name)
	case 1:
		spec.Exclude = nil
		if f.random.IntN(3) == 0 {
			spec.Exclude = []string{f.one("web", "db", "net")}
		}
	case 2:
		spec.Versions = nil
		if constraint := f.one("", "", "<2", ">=1"); constraint != "" {
			spec.Versions = []v1alpha1.VersionRule{{Constraint: constraint}}
		}
	case 3:
		// The same release under another name.
		other := f.one("web", "db", "b", "c")
		in, has := spec.Instances[name]
		if _, taken := spec.Instances[other]; !has || taken {
			return
		}
		if in.Application == "" {
			in.Application = name
		}
		if in.ReleaseName == "" {
			in.ReleaseName = name
		}
		delete(spec.Instances, name)
		spec.Instances[other] = in
	default:
		in := v1alpha1.Instance{
			Application: f.one("web", "web", "db", "net", "wep"), Version: f.one("", "1.0.0", "v1.0.0", "^1", ">=1", ">=1", "~1.1", "1", "2.0.0", "<2", "1.2.0+build"),
			Namespace: f.one("", "", "", "", "shared"), ReleaseName: f.one("", "", "", "", "web"), StorageNamespace: f.one("", "", "", "", "", "x"),
		}
		if before, has := spec.Instances[name]; has && f.random.IntN(2) > 0 {
			before.Version, in = in.Version, before
			in.Version = before.Version
		}
		on := f.one("", "", "", "", "web", "db", "@system")
		if _, has := spec.Instances[on]; on != name && (has || on == v1alpha1.DependsOnSystem) {
			in.DependsOn = []string{on}
		}
		spec.Instances[name] = in
	}
}

func (f *fleet) source() guard.Source {
	f.Helper()
	fsys := fstest.MapFS{}
	for name, d := range f.catalog {
		fsys["applications/"+name+"/application.yaml"] = &fstest.MapFile{Data: []byte(d.text(name))}
	}
	loaded, err := render.LoadFS(f.Context(), "catalog", fsys, render.CatalogLocation{})
	if err != nil {
		return guard.Source{}
	}
	return guard.Source{Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "flux-system", Name: "catalog"}, Catalog: loaded}
}

// render renders the selection; nil if it cannot be rendered, so that nothing is published.
func (f *fleet) render(source guard.Source) *render.Result {
	opts, err := render.FromSpec(f.cs)
	if err != nil {
		return nil
	}
	result, err := render.Render(f.Context(), guard.Selections([]guard.Source{source}), opts)
	if err != nil {
		return nil
	}
	return result
}

func (f *fleet) publish(source guard.Source, result *render.Result) {
	f.Helper()
	spec := guard.RenderedSpec(f.cs)
	written, err := json.Marshal(guard.Record([]guard.Source{source}, result.Compared()))
	if err != nil {
		f.Fatal(err)
	}
	f.last = guard.Published{Spec: &spec, Definitions: result.Compared()}
	if err := json.Unmarshal(written, &f.last.Sources); err != nil {
		f.Fatal(err)
	}
	f.then, f.result, f.defined, f.selected = source, result, maps.Clone(f.catalog), f.cs.DeepCopy()
}

// revert takes back what was changed since the last publication.
func (f *fleet) revert() { f.catalog, f.cs = maps.Clone(f.defined), f.selected.DeepCopy() }

// chosen returns the version that the present spec installs from the catalog of the last publication; empty for none.
func (f *fleet) chosen(name string) string {
	f.Helper()
	opts, err := render.FromSpec(f.cs)
	if err != nil {
		f.Fatal(err)
	}
	decided, err := render.Decide(f.Context(), guard.Selections([]guard.Source{f.then}), opts)
	if err != nil {
		f.Fatal(err)
	}
	resolved, _ := instance.Resolve(opts.Instances, decided)
	for _, r := range resolved {
		if r.Name == name {
			return r.Resolved
		}
	}
	return ""
}

// consented returns why nobody has decided about what becomes of an instance; empty if it stays, or somebody has.
func (f *fleet) consented(before installation.Instance, next []installation.Instance) string {
	spec, wanted := f.cs.Spec.Instances[before.Name]
	var now *installation.Instance
	for i, in := range next {
		if in.Name == before.Name {
			now = &next[i]
			continue
		}
		if _, known := mainOf(f.result.Instances, in.Name); !known && sameRelease(in.Main, before.Main) {
			if _, stays := mainOf(next, before.Name); !stays {
				return "its release becomes that of the instance " + in.Name
			}
		}
	}
	switch {
	case now == nil && wanted:
		return "it is removed"
	case now == nil:
		return ""
	case now.Main.Key() != before.Main.Key() || now.Application != before.Application || !reflect.DeepEqual(now.Main.Identity, before.Main.Identity):
		return "it is another release"
	case now.Version == before.Version || f.chosen(before.Name) == now.Version:
		return ""
	case instance.IsExact(spec.Version) && strings.TrimPrefix(spec.Version, "v") == strings.TrimPrefix(now.Version, "v"):
		return ""
	}
	from, to := semver.MustParse(before.Version), semver.MustParse(now.Version)
	if to.LessThan(from) || from.Major() != to.Major() {
		return "it has another version"
	}
	return ""
}

func mainOf(instances []installation.Instance, name string) (safeguard.Definition, bool) {
	for _, in := range instances {
		if in.Name == name {
			return in.Main, true
		}
	}
	return safeguard.Definition{}, false
}

func sameRelease(a, b safeguard.Definition) bool {
	name := a.Identity[safeguard.ReleaseField] == b.Identity[safeguard.ReleaseField]
	return name && (a.Identity[safeguard.StorageNamespaceField] == b.Identity[safeguard.StorageNamespaceField] ||
		a.Identity[safeguard.TargetNamespaceField] == b.Identity[safeguard.TargetNamespaceField])
}

// Whatever is edited and whatever the catalog does, also while a render is held: what is published takes no running
// release away, unless an edit decided exactly that.
func TestRandomEditsTakeNoReleasesAway(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	published, held, changed := 0, 0, 0
	for range 100 {
		f := newFleet(t, random)
		var steps []string
		for range 16 {
			if f.result == nil || random.IntN(3) > 0 {
				f.editCatalog()
				steps = append(steps, "catalog")
			}
			if random.IntN(2) > 0 {
				f.editSpec()
				steps = append(steps, "spec")
			}
			source := f.source()
			if source.Catalog == nil {
				continue
			}
			result := f.render(source)
			if result == nil {
				if f.result != nil && random.IntN(2) > 0 {
					f.revert()
				}
				continue
			}
			if f.result == nil {
				f.publish(source, result)
				continue
			}
			verdict := guard.Decide(t.Context(), f.last, guard.Next{Selection: f.cs, Sources: []guard.Source{source}, Result: result})
			if len(verdict.Held) > 0 {
				switch held++; random.IntN(4) {
				case 0, 1:
					f.revert()
				case 2: // approved
					f.publish(source, result)
				}
				continue
			}
			for i, a := range result.Instances {
				for _, b := range result.Instances[:i] {
					if sameRelease(a.Main, b.Main) {
						t.Fatalf("%s and %s have one release: %v", a.Name, b.Name, a.Main)
					}
				}
			}
			for _, before := range f.result.Instances {
				if why := f.consented(before, result.Instances); why != "" {
					now, _ := mainOf(result.Instances, before.Name)
					t.Fatalf("%s: %s, and it is not held after %q\nbefore %+v\nafter  %+v\nspec %+v\nthen %+v", before.Name, why, steps, before.Main, now, f.cs.Spec.Instances[before.Name], f.last.Spec.Instances[before.Name])
				}
			}
			published++
			if len(verdict.Changes) > 0 {
				changed++
			}
			f.publish(source, result)
		}
	}
	if changed < 40 || held < 100 {
		t.Errorf("%d renders were published, %d of them with a change, and %d held", published, changed, held)
	}
}
