// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"

	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/instance"
	"github.com/winnow-dev/winnow/render/mention"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/selection"
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
	if err := notEmpty(result, s.resolved, s.unresolved, opts); err != nil {
		return selected{}, err
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
	if err := allMirrored(documents, s.others, s.opts); err != nil {
		return transformed{}, err
	}
	installed, err := install(ctx, s.resolved, s.objects, documents, s.opts)
	return transformed{selected: s, documents: documents, installed: installed}, err
}

// assemble puts the artifact together, and refuses what a cluster could not have at once.
func assemble(ctx context.Context, t transformed) (*Result, error) {
	result := &Result{
		Selection: t.result, Addresses: addresses(t.documents), Unresolved: t.unresolved,
		Unmatched: mention.UnmatchedIn(t.sources, t.opts.Mentions, t.result.Decisions, mentionedIn(t.documents)),
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
	files, patched, err := assembleProved(ctx, selectedKeys(defined, t.installed.Objects), t.documents, t.installed.Objects, result.kustomization)
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

// mentionedIn returns what documents have of the names in the spec.
func mentionedIn(documents []document) []mention.Document {
	return each.Map(documents, func(d document) mention.Document { return d.mentioned })
}
