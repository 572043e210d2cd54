package render

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// InstancesDir is the directory of the objects of instances in an artifact.
const InstancesDir = "instances"

// Instance is an instance in an artifact.
type Instance struct {
	// Name of the instance, Application that it installs, and Source of the application.
	Name, Application, Source string
	// Requested is the version in the spec; empty for the default version. Version is what it resolves to, empty for
	// definitions without versions.
	Requested, Version string
	// Backend that installs it.
	Backend string
	// Main is the object whose deletion uninstalls it.
	Main safeguard.Definition
	// Named reports whether the spec names exactly this version.
	Named bool
	// Objects that install it, sorted by kind, namespace and name. Instances share sources and namespaces.
	Objects []InstanceObject
	// Notes on what will not work everywhere, though nothing is wrong with it.
	Notes []backend.Note
}

// installation has the objects of all instances.
type installation struct {
	built   []instance.Built
	objects []backend.Object
	// origins of the charts, by instance.
	origins map[string]string
}

// install builds the instances that can be resolved.
func install(ctx context.Context, resolved []instance.Resolved, selected []selection.Decision, documents []document, opts Options) (installation, error) {
	if len(resolved) == 0 {
		return installation{}, nil
	}
	contents := make(map[string][]byte, len(selected))
	published := make(map[string]safeguard.Definition, len(selected))
	for i, d := range selected {
		contents[d.Application.Name] = documents[i].content
		published[d.Application.Name] = safeguard.Definition{Versions: d.Versions, Origins: documents[i].identity.Origins}
	}
	built, err := instance.Build(ctx, resolved, instance.Surroundings{
		Selection: opts.Name,
		Document:  func(application string) []byte { return contents[application] },
		Overrides: opts.overridesOf, Access: opts.accessTo,
	})
	if ctx.Err() != nil {
		return installation{}, err
	}
	objects := map[string][]backend.Object{}
	origins := map[string]string{}
	for _, b := range built {
		annotate(b, opts)
		objects[b.Name] = b.Objects
		origins[b.Name] = published[b.Application].OriginOf(b.Resolved.Resolved)
	}
	var union []backend.Object
	if err == nil {
		union, err = backend.Union(objects)
	}
	if err != nil {
		return installation{}, &Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.instances", Err: bounded(flat(err))}
	}
	return installation{built: built, objects: union, origins: origins}, nil
}

// flat returns the errors that an error joins.
func flat(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, flat(one)...)
	}
	return all
}

// overridesOf returns what wins over the values of the instances of an application.
func (o Options) overridesOf(application string) map[string]any {
	var values map[string]any
	for _, rule := range o.InstanceOverrides {
		if slices.Contains(rule.Names, application) {
			values = backend.MergeValues(values, rule.Values)
		}
	}
	return values
}

// accessTo returns how Flux reaches the chart at a URL.
func (o Options) accessTo(url string) backend.Access {
	if o.Transform == nil || len(o.Access) == 0 {
		return backend.Access{}
	}
	return o.Access[o.Transform.MirrorOf(url)]
}

// fileOfObject returns the path of an object of an instance in the artifact.
func fileOfObject(object backend.Object) string {
	return fileOfKey(keyOfObject(object))
}

func fileOfKey(key safeguard.Key) string {
	return path.Join(InstancesDir, key.Namespace, strings.ToLower(key.Kind)+"-"+key.Name+".yaml")
}

// kindAnnotations returns the annotations of an artifact with instances, by what the kinds of objects are for.
func kindAnnotations(defined []safeguard.Definition, objects []backend.Object, opts Options) []tree.KindAnnotations {
	kinds := map[backend.Role][]schema.GroupKind{}
	add := func(role backend.Role, kind schema.GroupKind) {
		if role == backend.OperatorGroup && !opts.Prune {
			role = backend.Shared // of which Flux deletes nothing either
		}
		if !slices.Contains(kinds[role], kind) {
			kinds[role] = append(kinds[role], kind)
		}
	}
	for _, d := range defined {
		add(backend.Definition, schema.GroupKind{Group: d.Key().Group, Kind: d.Kind})
	}
	for _, object := range objects {
		add(object.Role, object.GroupVersionKind().GroupKind())
	}
	var all []tree.KindAnnotations
	for _, role := range []backend.Role{backend.Definition, backend.Main, backend.Values, backend.Shared, backend.OperatorGroup, backend.Namespace} {
		slices.SortFunc(kinds[role], func(a, b schema.GroupKind) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
		})
		all = append(all, tree.KindAnnotations{Name: "annotations-" + string(role), Kinds: kinds[role], Annotations: roleAnnotations(role, opts)})
	}
	return all
}

// roleAnnotations returns what Flux has to know of the objects with a role. Sources and values are pruned freely:
// a new one has a new name. A namespace is only created: where another Kustomization has it too, each would take away
// the labels of the other one, because Flux has one field manager for all.
func roleAnnotations(role backend.Role, opts Options) map[string]string {
	annotations := map[string]string{}
	switch role {
	case backend.Definition:
		annotations[ssaAnnotation] = "Merge"
	case backend.Namespace:
		annotations[ssaAnnotation] = "IfNotPresent"
	}
	if role != backend.Namespace {
		annotations[substituteAnnotation] = "disabled"
	}
	if role == backend.Namespace || role == backend.OperatorGroup || !opts.Prune && role != backend.Values {
		annotations[pruneAnnotation] = "disabled"
	}
	return annotations
}

// installed returns the instances of the artifact, as patches leave them: patched has the built objects, nil
// without patches.
func (in installation) installed(patched map[safeguard.Key]Object) []Instance {
	var all []Instance
	for _, b := range in.built {
		objects := patchedObjects(b.Objects, patched)
		main := MainOf(mainOf(objects).Object)
		main.Identity = identityIn(mainOf(objects), objects)
		main.Instance, main.Application, main.Source = b.Name, b.Application, b.Decision.Source
		if version := b.Installed(); version != "" {
			main.Versions = []string{version}
		}
		if origin := in.origins[b.Name]; origin != "" {
			main.Origins = safeguard.Origins{origin}
		}
		all = append(all, Instance{
			Name: b.Name, Application: b.Application, Source: b.Decision.Source, Requested: b.Version, Version: b.Installed(),
			Backend: b.Backend, Main: main, Named: b.IsNamed(b.Resolved.Resolved) || b.IsNamed(b.Installed()),
			Objects: keysOf(b.Objects), Notes: b.Notes,
		})
	}
	return all
}

// distinctReleases refuses a second owner of a release: both would upgrade it in turns.
func distinctReleases(instances []Instance) error {
	owners := map[safeguard.Key]string{}
	var errs []error
	for _, in := range instances {
		if other := byOtherOLM(in, instances); other != "" {
			errs = append(errs, &backend.Error{Instance: in.Name, Path: "application", Message: fmt.Sprintf(
				"the package %s is also that of the instance %s, which has another backend: OLM v0 and OLM v1 cannot both run it, so leave one of them out",
				excerpt.Quoted(in.Main.Identity[safeguard.PackageField]), excerpt.Quoted(other))})
		}
		for _, release := range in.Main.Releases() {
			other, taken := owners[release]
			if owners[release] = in.Name; taken {
				errs = append(errs, secondOwner(in, release, other))
				break
			}
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return &Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.instances", Err: bounded(errs)}
}

// byOtherOLM returns the instance by which the other version of OLM gets the package of an instance of OLM v0; empty
// without one.
func byOtherOLM(in Instance, instances []Instance) string {
	name := in.Main.Identity[safeguard.PackageField]
	if name == "" || in.Main.Kind != backend.Subscription {
		return ""
	}
	i := slices.IndexFunc(instances, func(other Instance) bool {
		return other.Main.Identity[safeguard.PackageField] == name && other.Main.Kind != in.Main.Kind
	})
	if i < 0 {
		return ""
	}
	return instances[i].Name
}

func secondOwner(in Instance, release safeguard.Key, other string) error {
	path, advice := safeguard.ReleaseField, "set another releaseName"
	if in.Main.Identity[safeguard.PackageField] != "" {
		path, advice = "application", "OLM installs a package once, so leave one of them out"
	}
	return &backend.Error{Instance: in.Name, Path: path, Message: fmt.Sprintf("the %s %s is also that of the instance %s: %s",
		strings.ToLower(release.Kind), excerpt.Quoted(release.FullName()), excerpt.Quoted(other), advice)}
}

// supporting returns the keys of the objects besides the main ones.
func (in installation) supporting() []safeguard.Key {
	var keys []safeguard.Key
	for _, o := range in.objects {
		if o.Role != backend.Main {
			keys = append(keys, keyOfObject(o))
		}
	}
	return keys
}

func keyOfObject(object backend.Object) safeguard.Key {
	return safeguard.KeyOf(object.GroupVersionKind().Group, object.GetKind(), object.GetNamespace(), object.GetName())
}

// targets returns the kinds of the objects that no cluster serves by itself.
func (in installation) targets() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, o := range in.objects {
		if kind := o.GroupVersionKind(); kind.Group != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return cmp.Compare(a.String(), b.String()) })
	return kinds
}
