// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/refusal"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// selected is what the first step of a render returns. Each step takes only what the one before returned, so that the
// compiler keeps their order.
type selected struct {
	sources []selection.Source
	opts    options.Options
	// result has all decisions. objects and others are the selected applications: those that are objects, and contents.
	result          selection.Result
	objects, others []selection.Decision
	resolved        []instance.Resolved
	unresolved      []instance.Unresolved
}

// selectFrom selects applications, and resolves the instances of them.
func selectFrom(ctx context.Context, sources []selection.Source, opts options.Options) (selected, error) {
	result, err := Decide(ctx, sources, opts)
	if err != nil {
		return selected{}, err
	}
	s := selected{sources: sources, opts: opts, result: result}
	s.resolved, s.unresolved = instance.Resolve(opts.Instances, result)
	if isEmpty := result.Selected == 0 || opts.OmitDefinitions && len(s.resolved) == 0; isEmpty && !opts.AllowEmpty {
		return selected{}, &refusal.Error{Code: v1alpha1.EmptyResultReason, Err: emptyResult(result, s.unresolved)}
	}
	s.objects, s.others = contents.Separate(result.Applications())
	return s, nil
}

// transformed is what the second step of a render returns.
type transformed struct {
	selected

	// documents of the objects, in their order.
	documents []document
	installed installation.Installation
}

// transformSelected changes the documents of what is selected, and builds the instances of what they are then.
func transformSelected(ctx context.Context, s selected) (transformed, error) {
	documents, err := transformAll(ctx, s.objects, s.opts)
	if err != nil {
		return transformed{}, err
	}
	if s.opts.RequireMirrors {
		if err := errors.Join(unmirrored(documents), unmirrorable(s.others)); err != nil {
			return transformed{}, err
		}
	}
	installed, err := install(ctx, s.resolved, s.objects, documents, s.opts)
	return transformed{selected: s, documents: documents, installed: installed}, err
}

// assemble puts the artifact together, and refuses what a cluster could not have at once.
func assemble(ctx context.Context, t transformed) (*Result, error) {
	mentioned := each.Map(t.documents, func(d document) mention.Document { return d.mentioned })
	result := &Result{
		Selection: t.result, Addresses: addresses(t.documents), Unresolved: t.unresolved,
		Unmatched: mention.UnmatchedIn(t.sources, t.opts.Mentions, t.result.Decisions, mentioned),
	}
	result.Unmatched = append(result.Unmatched, mention.UnmatchedInstances(t.unresolved)...)
	if t.opts.OmitDefinitions {
		t.objects, t.others, t.documents, result.omitted = nil, nil, nil, t.documents
	}
	defined := definitions(t.objects, t.documents)
	result.Contents = contents.Definitions(t.others)
	catalogs, err := servedCatalog(ctx, t.others, t.opts)
	if err != nil {
		return nil, err
	}
	for _, object := range catalogs {
		result.Served = new(installation.KeyOf(object))
	}
	t.installed.Objects = append(t.installed.Objects, catalogs...)
	result.kustomization = kustomization(t.opts, defined, t.installed.Objects)
	result.kustomization.AllowEmpty = t.opts.AllowEmpty || len(t.others) > 0
	files, patched, err := assembleProved(ctx, defined, t.documents, t.installed.Objects, result.kustomization)
	if err == nil {
		err = contents.Add(ctx, files, t.others)
	}
	if err == nil {
		err = seal.Add(files)
	}
	if err != nil {
		return nil, err
	}
	result.Tree, result.Revision = files, RevisionPrefix+files.Digest()
	result.Patched = takenByPatches(defined, patched, t.opts.Patches)
	result.Definitions = asPatched(defined, patched)
	if result.Instances, err = t.installed.Installed(patched); err != nil {
		return nil, err
	}
	result.Supporting, result.Targets = t.installed.Supporting(), t.installed.Targets()
	if err := installation.DistinctReleases(result.Instances); err != nil {
		return nil, err
	}
	if err := distinctKinds(result.Definitions); err != nil {
		return nil, err
	}
	return result, nil
}

// install builds the instances that can be resolved.
func install(ctx context.Context, resolved []instance.Resolved, selected []selection.Decision, documents []document, opts options.Options) (installation.Installation, error) {
	if len(resolved) == 0 {
		return installation.Installation{}, nil
	}
	content := make(map[string][]byte, len(selected))
	published := make(map[string]safeguard.Definition, len(selected))
	for i, d := range selected {
		content[d.Application.Name] = documents[i].content
		published[d.Application.Name] = safeguard.Definition{Versions: d.Versions, Origins: documents[i].identity.Origins}
	}
	return installation.Build(ctx, resolved, installation.Input{
		Surroundings: instance.Surroundings{
			Selection: opts.Name,
			Document:  func(application string) []byte { return content[application] },
			Overrides: opts.OverridesOf, Access: opts.AccessTo,
		},
		AnnotateSource: opts.AnnotateSource,
		Origin:         func(application, version string) string { return published[application].OriginOf(version) },
	})
}

// servedCatalog returns the catalog with the image of the packages, as a push makes it; none without packages.
func servedCatalog(ctx context.Context, others []selection.Decision, opts options.Options) ([]backend.Object, error) {
	if opts.Served == nil {
		return nil, nil
	}
	files := tree.New()
	if err := contents.Add(ctx, files, others); err != nil {
		return nil, err
	}
	configs, err := contract.ConfigsIn(files)
	if err != nil || configs == nil {
		return nil, err
	}
	image, err := contract.PackConfigs(configs, contract.ServedAnnotations(opts.Namespace+"/"+opts.Name))
	if err != nil {
		return nil, err
	}
	return []backend.Object{opts.Served.Object(opts.Repository + "@" + image.Digest().String())}, nil
}

// unmirrorable refuses contents where every address has to have a mirror: mirrors do not change their bytes.
func unmirrorable(contents []selection.Decision) error {
	return refusal.OfSpec("spec.requireMirrors", each.Map(contents, func(d selection.Decision) error {
		return fmt.Errorf("application %s: mirrors do not rewrite what is no object of Kubernetes: configure a mirror of images in the cluster, and leave out requireMirrors",
			d.Application.Name)
	}))
}

// unmirrored refuses documents that fetch from a host which no mirror covers. URLs inside of values are
// not counted, because they may never be fetched.
func unmirrored(documents []document) error {
	var found []error
	for _, d := range documents {
		if d.Unreadable != "" {
			found = append(found, fmt.Errorf("%s: its default values cannot be searched: %s", d.name, d.Unreadable))
		}
		for _, host := range d.Uncovered() {
			found = append(found, fmt.Errorf("%s: %s at %s", d.name, host.Host, host.Path))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &refusal.Error{Code: v1alpha1.InvalidSpecReason, Field: "spec.mirrors",
		Err: fmt.Errorf("requireMirrors: no mirror covers %s", strings.ReplaceAll(refusal.Join(found).Error(), "\n", "; "))}
}

// distinctKinds refuses definitions of Cozystack that install the same kind: its API server would
// serve either of them, and reconcile the releases of both. A catalog alone cannot have two, several
// sources and patches can.
func distinctKinds(definitions []safeguard.Definition) error {
	type installed struct{ group, kind string }
	first := map[installed]safeguard.Definition{}
	var errs []error
	for _, d := range definitions {
		kind := d.Identity[identity.Kind]
		if kind == "" {
			continue
		}
		key := installed{d.Key().Group, kind}
		other, taken := first[key]
		if !taken {
			first[key] = d
			continue
		}
		errs = append(errs, fmt.Errorf("%s of the source %s and %s of the source %s both install the kind %q, which Cozystack serves once: "+
			"add one of the two to spec.exclude", other.Name, other.Source, d.Name, d.Source, kind))
	}
	return refusal.OfSpec("spec.sources", errs)
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
func asPatched(definitions []safeguard.Definition, objects map[safeguard.Key]kustomized.Object) []safeguard.Definition {
	if objects == nil {
		return definitions
	}
	built := kustomized.Definitions(objects)
	for i, d := range definitions {
		patched := built[d.Key()]
		definitions[i].Versions, definitions[i].Origins, definitions[i].Identity = patched.Versions, patched.Origins, patched.Identity
	}
	return definitions
}

// emptyResult returns an error with the number of applications, and of those that each rule left out.
func emptyResult(selected selection.Result, unresolved []instance.Unresolved) error {
	if selected.Selected > 0 {
		errs := []error{errors.New("nothing is installed: spec.definitions is Omit, and no instance can be resolved")}
		for _, u := range unresolved {
			errs = append(errs, errors.New(u.String()))
		}
		return errors.New(strings.ReplaceAll(refusal.Join(errs).Error(), "\n", "; "))
	}
	counts := map[string]int{}
	for _, d := range selected.Decisions {
		isHidden := d.Rule == selection.RuleSourceLimit && selected.Available > 0 // it does not exist for the other rules
		if d.Rule != selection.RuleShadowed && !isHidden {
			counts[d.Rule]++
		}
	}
	if len(counts) == 0 {
		return errors.New("nothing is selected: the sources have no applications")
	}
	rules, all := slices.Sorted(maps.Keys(counts)), ""
	parts := each.Map(rules, func(rule string) string { return fmt.Sprintf("%d by %s", counts[rule], rule) })
	if limits := each.Where(rules, func(rule string) bool { return strings.HasPrefix(rule, "limit.") }); len(limits) > 1 {
		all = "; an application must match all members of spec.limit"
	}
	return fmt.Errorf("nothing is selected; left out of %d applications: %s%s",
		max(selected.Available, counts[selection.RuleSourceLimit]), strings.Join(parts, ", "), all)
}
