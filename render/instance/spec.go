// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/draft"
	"github.com/winnow-dev/winnow/render/backends"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Spec is a valid entry of spec.instances. New returns one.
type Spec struct {
	// Name of the instance, and Application that it installs.
	Name, Application string
	// Version as the spec has it: a version, a range, or empty for the default version, or else the highest.
	Version string
	// Backend that the spec names; empty for the default of the definition.
	Backend string
	// DependsOn are the names of other instances, or v1alpha1.DependsOnSystem.
	DependsOn []string

	// constraint is nil for a Version that is no range.
	constraint *semver.Constraints
	// platform are the backends of spec.platform; nil for all.
	platform []string
	// given has the fields for the backend that do not depend on the catalogs.
	given backend.Instance
}

// Bounds of a spec, as the API has them.
const (
	maxInstances = 256
	maxListed    = 32
	maxVersion   = 256
	maxChannels  = 256
	maxChannel   = 253
)

// New returns the instances of a spec, sorted by name, in the namespace of the selection. It repeats the checks of
// the API server, for specs that it has not seen.
func New(namespace string, instances map[string]v1alpha1.Instance, path *field.Path) ([]Spec, field.ErrorList) {
	if len(instances) > maxInstances {
		return nil, field.ErrorList{field.TooMany(path, len(instances), maxInstances)}
	}
	var r reader
	var specs []Spec
	for _, name := range slices.Sorted(maps.Keys(instances)) {
		specs = append(specs, r.spec(name, namespace, instances[name], path.Key(name)))
		r.checkDependencies(name, instances, path.Key(name).Child("dependsOn"))
	}
	if len(r.errs) > 0 { // there may be any number of unknown names
		return specs, r.errs
	}
	if cycle := cycleIn(instances); len(cycle) > 0 {
		r.refuse(field.Invalid(path.Key(cycle[0]).Child("dependsOn"), field.OmitValueType{},
			"instances depend on each other: "+strings.Join(cycle, " -> ")))
	}
	return specs, r.errs
}

// reader reads instances of a spec, and collects its violations.
type reader struct{ errs field.ErrorList }

func (r *reader) refuse(errs ...*field.Error) { r.errs = append(r.errs, errs...) }

// Restrict leaves out the instances whose backend is not listed; with nil, none. The errors are about the list, which is at
// a path of the spec.
func Restrict(specs []Spec, listed []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if listed != nil && len(listed) == 0 {
		errs = append(errs, field.Required(path, "leave it out, or list at least one backend"))
	}
	for i, name := range listed {
		if backends.Named(name) == nil {
			errs = append(errs, field.NotSupported(path.Index(i), name, backendNames()))
		}
	}
	for i := range specs {
		specs[i].platform = listed
	}
	return errs
}

// Serve lets the instances that name no catalog be installed from the one of the selection; nil for none.
func Serve(specs []Spec, served *backend.ServedCatalog) {
	for i := range specs {
		specs[i].given.Served = served
	}
}

func (r *reader) spec(name, namespace string, in v1alpha1.Instance, path *field.Path) Spec {
	r.refuse(each.Map(validation.IsDNS1123Label(name), func(problem string) *field.Error { return field.Invalid(path, name, problem) })...)
	spec := Spec{
		Name: name, Application: cmp.Or(in.Application, name), Version: in.Version, Backend: in.Backend, DependsOn: in.DependsOn,
	}
	if in.Backend != "" && backends.Named(in.Backend) == nil {
		r.refuse(field.NotSupported(path.Child("backend"), in.Backend, backendNames()))
	}
	switch {
	case len(in.Version) > maxVersion:
		r.refuse(field.TooLong(path.Child("version"), in.Version, maxVersion))
	case !IsExact(in.Version) && in.Version != "":
		// What is no range can still be the name of a version.
		spec.constraint, _ = semver.NewConstraint(in.Version)
	}
	for child, size := range map[string]int{"valuesFrom": len(in.ValuesFrom), "dependsOn": len(in.DependsOn)} {
		if size > maxListed {
			r.refuse(field.TooMany(path.Child(child), size, maxListed))
		}
	}
	values, err := Values(in.Values)
	if err != nil {
		r.refuse(field.Invalid(path.Child("values"), field.OmitValueType{}, err.Error()))
	}
	spec.given = backend.Instance{
		Name: name, Namespace: namespace, Values: values, TargetNamespace: in.Namespace, CreateNamespace: in.CreateNamespace,
		ReleaseName: in.ReleaseName, StorageNamespace: in.StorageNamespace, ServiceAccountName: in.ServiceAccountName,
		Suspend: in.Suspend, DestroyResources: in.DestroyResources, Channels: in.Channels,
		CreateOperatorGroup: in.CreateOperatorGroup, ValuesFrom: in.ValuesFrom,
	}
	if in.Deploy != nil {
		spec.given.Deploy = *in.Deploy
	}
	if in.Catalog != nil {
		spec.given.Catalog = *in.Catalog
	}
	r.checkChannels(in.Channels, path.Child("channels"))
	if in.Interval != nil {
		spec.given.Interval = in.Interval.Duration
		if in.Interval.Duration < time.Second {
			r.refuse(field.Invalid(path.Child("interval"), in.Interval.Duration.String(), "must be at least 1s"))
		}
	}
	if in.Timeout != nil {
		spec.given.Timeout = in.Timeout.Duration
	}
	return spec
}

// checkChannels repeats the bounds of the API.
func (r *reader) checkChannels(channels []string, path *field.Path) {
	if len(channels) > maxChannels {
		r.refuse(field.TooMany(path, len(channels), maxChannels))
		return
	}
	for i, channel := range channels {
		switch {
		case channel == "":
			r.refuse(field.Required(path.Index(i), ""))
		case len(channel) > maxChannel:
			r.refuse(field.TooLong(path.Index(i), channel, maxChannel))
		case slices.Contains(channels[:i], channel):
			r.refuse(field.Duplicate(path.Index(i), channel))
		}
	}
}

func backendNames() []string {
	return each.Map(backends.All(), func(b draft.Backend) string { return b.Type })
}

var exactPattern = regexp.MustCompile(`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-+].*)?$`)

// IsExact reports whether a version of a spec is a whole semantic version, which is no range.
func IsExact(version string) bool { return exactPattern.MatchString(version) }

// Values reads values of a spec, with int64 and float64 for numbers; nil for none.
func Values(from *apiextensionsv1.JSON) (map[string]any, error) {
	if from == nil || len(from.Raw) == 0 {
		return nil, nil
	}
	var values map[string]any
	if err := json.Unmarshal(from.Raw, &values); err != nil {
		return nil, fmt.Errorf("must be a mapping: %w", err)
	}
	return values, nil
}

// checkDependencies refuses names that no instance has.
func (r *reader) checkDependencies(name string, instances map[string]v1alpha1.Instance, path *field.Path) {
	for i, on := range instances[name].DependsOn {
		_, known := instances[on]
		switch {
		case on == v1alpha1.DependsOnSystem:
		case on == name:
			r.refuse(field.Invalid(path.Index(i), on, "is the instance itself"))
		case !known:
			r.refuse(field.Invalid(path.Index(i), on, "no instance of the selection has this name"+meant(on, instances)))
		}
	}
}

// meant returns the end of a message on a misspelt name of an instance; empty if none resembles it.
func meant(name string, instances map[string]v1alpha1.Instance) string {
	if near := spelling.Likeliest(name, slices.Collect(maps.Keys(instances))); near != "" {
		return "; did you mean " + excerpt.Quoted(near) + "?"
	}
	return ""
}

// cycleIn returns instances that depend on each other, the first one also at the end; nil if there are none.
func cycleIn(instances map[string]v1alpha1.Instance) []string {
	var done []string
	for _, name := range slices.Sorted(maps.Keys(instances)) {
		if cycle := follow(name, nil, &done, func(of string) []string { return instances[of].DependsOn }); cycle != nil {
			return cycle
		}
	}
	return nil
}

// follow returns the first cycle that begins behind the names of the path. Without one it adds the name to done, behind all that
// it depends on.
func follow(name string, path []string, done *[]string, dependencies func(string) []string) []string {
	if i := slices.Index(path, name); i >= 0 {
		return append(slices.Clone(path[i:]), name)
	}
	if slices.Contains(*done, name) {
		return nil
	}
	path = append(path, name)
	for _, on := range dependencies(name) {
		if cycle := follow(on, path, done, dependencies); cycle != nil {
			return cycle
		}
	}
	*done = append(*done, name)
	return nil
}
