// SPDX-License-Identifier: Apache-2.0

// Package options turns a CatalogSelection into the parts that its artifact depends on, and reports all violations of
// the spec. It reads no catalog.
package options

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/transform"
)

// Options are the parts of a spec that the artifact depends on: all that rendering needs besides the sources.
type Options struct {
	// Name and Namespace of the CatalogSelection.
	Name, Namespace string
	// Criteria select applications and their versions.
	Criteria selection.Criteria
	// Transform changes the documents; nil leaves them as they are.
	Transform *transform.Pipeline
	// RequireMirrors refuses a host that no mirror covers.
	RequireMirrors bool
	// OmitDefinitions leaves the definitions of the selected applications out.
	OmitDefinitions bool
	// Instances that are installed, sorted by name.
	Instances []instance.Spec
	// InstanceOverrides win over the values of the instances of applications.
	InstanceOverrides []InstanceOverrides
	// Access maps the From of mirrors to how Flux reaches them.
	Access map[string]backend.Access
	// Served is the catalog that serves the packages of the artifact, from Repository; nil for none.
	Served     *backend.ServedCatalog
	Repository string
	// AnnotateSource annotates the main objects of instances with the digest of the source of their application.
	AnnotateSource bool
	// Labels and Annotations are added to every object.
	Labels, Annotations map[string]string
	// Patches change the objects, using kustomize.
	Patches []kustomize.Patch
	// Prune leaves out the annotation that keeps Flux from deleting the objects.
	Prune bool
	// Mentions are the names in the spec that have to match something in the catalogs.
	Mentions []mention.Mention
	// AllowEmpty renders an empty selection instead of refusing it, as the first publication has to: later it is the loss of
	// everything.
	AllowEmpty bool
	// MaxAdded bounds in bytes what transforming adds to all documents together: aliases that are written
	// out make much of little. Zero stands for 128 MiB.
	MaxAdded int64
}

// InstanceOverrides are values for the instances of the named applications.
type InstanceOverrides struct {
	Names  []string
	Values map[string]any
}

// FromSpec is the one mapping from a CatalogSelection to Options, for controller and command
// line alike. It checks the rules that the schema cannot express, and repeats the others for specs that
// no API server has checked: the error is a *refusal.Error with the reason InvalidSpec and all violations.
func FromSpec(cs *v1alpha1.CatalogSelection) (Options, error) {
	spec, path := cs.Spec, field.NewPath("spec")
	opts := Options{
		Name: cs.Name, Namespace: cs.Namespace,
		RequireMirrors:  spec.RequireMirrors,
		AnnotateSource:  spec.Provenance == v1alpha1.ProvenanceObject,
		OmitDefinitions: spec.Definitions == v1alpha1.DefinitionsOmit,
		Patches:         spec.Patches,
		Prune:           spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyDelete,
		Mentions:        mention.Of(spec),
	}
	if common := spec.CommonMetadata; common != nil {
		opts.Labels = maps.Clone(common.Labels)
		opts.Annotations = maps.Clone(common.Annotations)
	}
	var r reader
	r.validate(cs)
	opts.Criteria = r.criteria(spec, path)
	opts.Transform = r.pipeline(spec)
	opts.Instances = r.instances(cs, path)
	opts.Served, opts.Repository = r.served(cs, path.Child("push"))
	instance.Serve(opts.Instances, opts.Served)
	opts.InstanceOverrides = r.instanceOverrides(spec, path.Child("values"))
	opts.Access = access(spec.Mirrors)
	if len(r.errs) > 0 {
		return Options{}, &refusal.Error{Code: v1alpha1.InvalidSpecReason, Err: r.errs.ToAggregate()}
	}
	return opts, nil
}

func (r *reader) instances(cs *v1alpha1.CatalogSelection, path *field.Path) []instance.Spec {
	instances, errs := instance.New(cs.Namespace, cs.Spec.Instances, path.Child("instances"))
	r.refuse(errs...)
	if platform := cs.Spec.Platform; platform != nil {
		r.refuse(instance.Restrict(instances, platform.Backends, path.Child("platform", "backends"))...)
	}
	return instances
}

func (r *reader) pipeline(spec v1alpha1.CatalogSelectionSpec) *transform.Pipeline {
	compiled, err := transform.New(transform.Config{
		OmitFields:     spec.OmitFields,
		AnnotateSource: spec.Provenance == v1alpha1.ProvenanceObject,
		CollectHosts:   spec.RequireMirrors,
		Mirrors:        spec.Mirrors,
		Values:         spec.Values,
	})
	if err == nil {
		return compiled
	}
	for _, one := range refusal.Flat(err) {
		if bad, ok := errors.AsType[*transform.Error](one); ok {
			r.refuse(&field.Error{Type: field.ErrorTypeInvalid, Field: bad.Field, BadValue: field.OmitValueType{}, Detail: bad.Err.Error()})
		} else {
			r.refuse(field.InternalError(field.NewPath("spec"), one))
		}
	}
	return nil
}

func (r *reader) instanceOverrides(spec v1alpha1.CatalogSelectionSpec, path *field.Path) (all []InstanceOverrides) {
	for i, rule := range spec.Values {
		values, err := instance.Values(rule.InstanceOverrides)
		if err != nil {
			r.refuse(field.Invalid(path.Index(i).Child("instanceOverrides"), field.OmitValueType{}, err.Error()))
		}
		if len(values) > 0 {
			all = append(all, InstanceOverrides{Names: rule.Names, Values: values})
		}
	}
	return all
}

func access(configured []v1alpha1.Mirror) map[string]backend.Access {
	var by map[string]backend.Access
	for _, m := range configured {
		if m.Flux == nil {
			continue
		}
		if by == nil {
			by = map[string]backend.Access{}
		}
		a := backend.Access{Provider: m.Flux.Provider}
		if ref := m.Flux.SecretRef; ref != nil {
			a.SecretRef = ref.Name
		}
		if ref := m.Flux.CertSecretRef; ref != nil {
			a.CertSecretRef = ref.Name
		}
		by[m.From] = a
	}
	return by
}

// OverridesOf returns what wins over the values of the instances of an application.
func (o Options) OverridesOf(application string) map[string]any {
	var values map[string]any
	for _, rule := range o.InstanceOverrides {
		if slices.Contains(rule.Names, application) {
			values = backend.MergeValues(values, rule.Values)
		}
	}
	return values
}

// AccessTo returns how Flux reaches the chart at a URL.
func (o Options) AccessTo(url string) backend.Access {
	if o.Transform == nil || len(o.Access) == 0 {
		return backend.Access{}
	}
	return o.Access[o.Transform.MirrorOf(url)]
}

// repositoryPattern matches the repositories that both kinds of catalogs take.
var repositoryPattern = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*(:[0-9]+)?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+$`)

// maxRepository is what clients of registries take, in bytes.
const maxRepository = 255

// served returns the catalog of spec.push.catalog, and the repository of its image.
func (r *reader) served(cs *v1alpha1.CatalogSelection, path *field.Path) (*backend.ServedCatalog, string) {
	push := cs.Spec.Push
	if push == nil || push.Catalog == nil {
		return nil, ""
	}
	at, catalog := path.Child("catalog"), push.Catalog
	if push.Type != v1alpha1.PushCatalogImage {
		r.refuse(field.Forbidden(at, "needs type: "+v1alpha1.PushCatalogImage))
	}
	if cs.Spec.Definitions == v1alpha1.DefinitionsOmit {
		r.refuse(field.Forbidden(at, "needs definitions: "+v1alpha1.DefinitionsPublish+", which publishes the packages"))
	}
	kinds := []string{v1alpha1.PushClusterCatalog, v1alpha1.PushCatalogSource}
	switch {
	case !slices.Contains(kinds, catalog.Kind):
		r.refuse(field.NotSupported(at.Child("kind"), catalog.Kind, kinds))
	case catalog.Kind == v1alpha1.PushClusterCatalog && catalog.Namespace != "":
		r.refuse(field.Forbidden(at.Child("namespace"), "a ClusterCatalog has no namespace: leave it out"))
	case catalog.Kind == v1alpha1.PushCatalogSource:
		for _, problem := range apivalidation.ValidateNamespaceName(catalog.Namespace, false) {
			r.refuse(field.Invalid(at.Child("namespace"), catalog.Namespace, problem))
		}
	}
	repository, isOCI := strings.CutPrefix(push.URL, "oci://")
	if !isOCI || len(repository) > maxRepository || !repositoryPattern.MatchString(repository) {
		r.refuse(field.Invalid(path.Child("url"), push.URL, "must be oci://host/path without a tag, as OLM takes it"))
	}
	return backend.Serve(catalog.Kind, catalog.Namespace, cs.Namespace, cs.Name), repository
}
