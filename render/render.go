// Package render turns catalogs and the options of a CatalogSelection into the artifact that
// Flux applies: a tree of files, its revision, and the decision for every application.
//
// It is pure: the result is a function of the catalogs' bytes and the options. It knows no
// clock, environment, network, logger or Kubernetes client, so that the command line previews
// the very bytes that the controller publishes.
package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/selection/expression"
	"github.com/winnow-dev/winnow/render/tree"
)

// Annotations of every object that kustomize-controller reads.
const (
	// ssaAnnotation with the value Merge keeps fields and labels of the live object that other field
	// managers set. With IfNotPresent, Flux leaves a live object as it is.
	ssaAnnotation = "kustomize.toolkit.fluxcd.io/ssa"
	// substituteAnnotation with the value disabled keeps Flux from replacing ${...} in values.
	substituteAnnotation = "kustomize.toolkit.fluxcd.io/substitute"
	// pruneAnnotation with the value disabled keeps Flux from deleting the object.
	pruneAnnotation = "kustomize.toolkit.fluxcd.io/prune"
)

// Entries in the root of an artifact.
const (
	KustomizationFile = tree.KustomizationFile
	ApplicationsDir   = "applicationdefinitions"
)

// Entries returns the names of all entries that the root of an artifact may have.
func Entries() []string {
	return []string{ApplicationsDir, InstancesDir, catalog.PackagesDir, path.Dir(catalog.FunctionsFile), KustomizationFile, PlaceholdersFile}
}

// RevisionPrefix is what every revision of an artifact begins with.
const RevisionPrefix = "latest@"

// Result is a rendered artifact. It must not be changed.
type Result struct {
	// Tree is the content of the artifact.
	Tree *tree.Tree
	// Revision is latest@sha256:<digest of the tree's content>.
	Revision string
	// Selection has the decision for every application of every source.
	Selection selection.Result
	// Definitions are those of the artifact as kustomize builds them, sorted by name.
	Definitions []safeguard.Definition
	// Contents are the applications of the artifact that are no objects, sorted by name. No cluster has them.
	Contents []safeguard.Definition
	// Instances of the artifact, sorted by name, and those of the spec that cannot be resolved.
	Instances  []Instance
	Unresolved []instance.Unresolved
	// Served is the catalog of OLM that serves the packages, by spec.push.catalog; nil for none.
	Served *safeguard.Key
	// Supporting are the keys of the other objects of the instances, and Served.
	Supporting []safeguard.Key
	// Targets are the kinds that the cluster has to serve for the instances, sorted.
	Targets []schema.GroupVersionKind
	// Unmatched are the names in the spec that match nothing, in its order.
	Unmatched []Unmatched
	// Addresses are the hosts that the mirrors found in each application's document; empty without
	// mirrors.
	Addresses []Addresses

	// kustomization of the tree, without its resources.
	kustomization tree.Kustomization
}

// Render selects applications from the sources, which are in order of precedence, transforms their
// documents, and assembles the artifact. If it selects none, and the options do not allow that, the
// error is an *Error with the reason EmptyResult.
func Render(ctx context.Context, sources []selection.Source, opts Options) (_ *Result, err error) {
	defer recoverAs("", "rendering", &err)
	selected, err := Decide(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	resolved, unresolved := instance.Resolve(opts.Instances, selected)
	if err := notEmpty(selected, resolved, unresolved, opts); err != nil {
		return nil, err
	}
	objects, contents := byContent(selected.Applications())
	documents, err := transformAll(ctx, objects, opts)
	if err != nil {
		return nil, err
	}
	if err := allMirrored(documents, contents, opts); err != nil {
		return nil, err
	}
	installation, err := install(ctx, resolved, objects, documents, opts)
	if err != nil {
		return nil, err
	}
	result := &Result{
		Selection: selected, Addresses: addresses(documents), Unresolved: unresolved,
		Unmatched: unmatched(sources, opts, selected.Decisions, documents),
	}
	result.Unmatched = append(result.Unmatched, UnmatchedInstances(unresolved)...)
	if opts.OmitDefinitions {
		objects, contents, documents = nil, nil, nil
	}
	defined := definitions(objects, documents)
	result.Contents = contentDefinitions(contents)
	catalogs, err := servedCatalog(ctx, contents, opts)
	if err != nil {
		return nil, err
	}
	for _, object := range catalogs {
		result.Served = new(keyOfObject(object))
	}
	installation.objects = append(installation.objects, catalogs...)
	result.kustomization = kustomization(opts, defined, installation.objects)
	result.kustomization.AllowEmpty = opts.AllowEmpty || len(contents) > 0
	files, patched, err := assemble(ctx, selectedKeys(defined, installation.objects), documents, installation.objects, result.kustomization)
	if err == nil {
		err = addContents(ctx, files, contents)
	}
	if err == nil {
		err = seal.Add(files)
	}
	if err != nil {
		return nil, err
	}
	result.Tree, result.Revision = files, RevisionPrefix+files.Digest()
	result.Definitions = asPatched(defined, patched)
	result.Instances = installation.installed(patched)
	result.Supporting, result.Targets = installation.supporting(), installation.targets()
	if err := result.distinct(); err != nil {
		return nil, err
	}
	return result, nil
}

// distinct refuses what two applications, or instances, cannot both have.
func (r *Result) distinct() error {
	if err := distinctReleases(r.Instances); err != nil {
		return err
	}
	return distinctKinds(r.Definitions)
}

// Compared returns what the safeguards compare: what Live returns, and the contents.
func (r *Result) Compared() []safeguard.Definition { return slices.Concat(r.Live(), r.Contents) }

// Live returns what a cluster has of the artifact, and what is claimed there: the definitions, and the main objects of
// instances.
func (r *Result) Live() []safeguard.Definition {
	all := slices.Clip(r.Definitions)
	for _, in := range r.Instances {
		all = append(all, in.Main)
	}
	return all
}

// definitions returns the definitions of the artifact, with the versions and identities of the decisions and
// documents.
func definitions(decisions []selection.Decision, documents []document) []safeguard.Definition {
	out := make([]safeguard.Definition, len(decisions))
	for i, d := range decisions {
		out[i] = safeguard.Definition{
			APIVersion: d.Application.APIVersion, Kind: d.Application.Kind, Name: d.Application.Name,
			Source: d.Source, Versions: d.Versions,
			Origins: documents[i].identity.Origins, Identity: documents[i].identity.Fields,
		}
	}
	return out
}

// asPatched returns definitions with the versions and identities of the built objects, which patches may have changed.
// objects is nil without patches.
func asPatched(definitions []safeguard.Definition, objects map[safeguard.Key]Object) []safeguard.Definition {
	if objects == nil {
		return definitions
	}
	built := builtDefinitions(objects)
	for i, d := range definitions {
		patched := built[d.Key()]
		definitions[i].Versions, definitions[i].Origins, definitions[i].Identity = patched.Versions, patched.Origins, patched.Identity
	}
	return definitions
}

// Decide selects without rendering, and returns the decision for every application.
func Decide(ctx context.Context, sources []selection.Source, opts Options) (selection.Result, error) {
	if err := ctx.Err(); err != nil {
		return selection.Result{}, err
	}
	selected, err := selection.Select(ctx, sources, opts.Criteria)
	if err != nil && ctx.Err() != nil {
		return selected, fmt.Errorf("selecting applications: %w", ctx.Err())
	}
	return selected, placed(err)
}

// placed adds the field of the spec to an error of selection.Select.
func placed(err error) error {
	at := "spec."
	var source *selection.SourceError
	if errors.As(err, &source) {
		at = fmt.Sprintf("spec.sources[%d].", source.Index)
	}
	var unknown *selection.UnknownListError
	var failed *expression.Error
	var merge *selection.MergeError
	if _, ofContent := errors.AsType[*selection.KeepError](err); ofContent {
		return &Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.versions", Err: bounded(flat(err))}
	}
	switch {
	case errors.As(err, &unknown):
		return &Error{Code: v1alpha1.InvalidSpecReason, Field: at + "limit.catalogRefs", Err: err}
	case errors.As(err, &failed):
		return &Error{Code: v1alpha1.InvalidSpecReason, Field: at + "limit.expression", Err: err}
	case errors.As(err, &merge):
		return &Error{Code: v1alpha1.InvalidSpecReason, Field: fmt.Sprintf("spec.sources[%d].merge", merge.Conflicts[0].Index), Err: err}
	}
	return err
}

// WriteArchive writes the artifact as a tar.gz, the same bytes on every run.
func (r *Result) WriteArchive(w io.Writer) error {
	return archive.Write(w, r.Tree)
}

// selectedKeys returns the keys of what the artifact has for a cluster.
func selectedKeys(defined []safeguard.Definition, objects []backend.Object) []safeguard.Key {
	var keys []safeguard.Key
	for _, d := range defined {
		keys = append(keys, d.Key())
	}
	for _, object := range objects {
		keys = append(keys, keyOfObject(object))
	}
	return keys
}

// assemble puts the documents, the objects of instances and the kustomization.yaml into a tree. If there are patches,
// it proves them first, and returns the built objects.
func assemble(ctx context.Context, selected []safeguard.Key, documents []document, objects []backend.Object, k tree.Kustomization) (*tree.Tree, map[safeguard.Key]Object, error) {
	if err := checkWork(len(documents)+len(objects), len(k.Patches)); err != nil {
		return nil, nil, &Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.patches", Err: err}
	}
	files, err := assembleWith(documents, objects, k)
	if err != nil || len(k.Patches) == 0 {
		return files, nil, err
	}
	plain, err := assembleWith(documents, objects, tree.Kustomization{AllowEmpty: k.AllowEmpty})
	if err != nil {
		return nil, nil, err
	}
	built, err := prove(ctx, selected, plain, files, k)
	if err != nil {
		return nil, nil, err
	}
	return files, contents(built), nil
}

// kustomization returns the labels, annotations and patches of the options, without resources.
func kustomization(opts Options, defined []safeguard.Definition, objects []backend.Object) tree.Kustomization {
	k := tree.Kustomization{Labels: objectLabels(opts), Patches: opts.Patches, AllowEmpty: opts.AllowEmpty}
	if len(objects) == 0 {
		k.Annotations = roleAnnotations(backend.Definition, opts)
		maps.Copy(k.Annotations, opts.Annotations) // none of them has a reserved key
		return k
	}
	k.Annotations = opts.Annotations
	k.KindAnnotations = kindAnnotations(defined, objects, opts)
	return k
}

func assembleWith(documents []document, objects []backend.Object, k tree.Kustomization) (*tree.Tree, error) {
	files := tree.New()
	add := func(file string, content []byte) error {
		k.Resources = append(k.Resources, file)
		if err := files.Add(file, content); err != nil {
			return fmt.Errorf("assembling the artifact: %w", err)
		}
		return nil
	}
	for _, d := range documents {
		if err := add(fileOf(d.name), d.content); err != nil {
			return nil, err
		}
	}
	for _, object := range objects {
		content, err := object.YAML()
		if err != nil {
			return nil, fmt.Errorf("assembling the artifact: %w", err)
		}
		if err := add(fileOfObject(object), content); err != nil {
			return nil, err
		}
	}
	content, err := k.Marshal()
	if err != nil {
		return nil, &Error{Code: v1alpha1.InvalidSpecReason, Err: err}
	}
	return files, files.Add(KustomizationFile, content)
}

func objectLabels(opts Options) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, opts.Labels)
	labels[v1alpha1.ManagedByLabel] = v1alpha1.ManagedByValue
	labels[v1alpha1.NameLabel] = opts.Name
	labels[v1alpha1.NamespaceLabel] = opts.Namespace
	return labels
}
