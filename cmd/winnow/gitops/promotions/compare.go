// SPDX-License-Identifier: Apache-2.0

package promotions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Found is the result of a comparison.
type Found struct {
	Promotions []*diff.Selection
	// Unknown are sentences on what differs and is not compared. They begin with the cluster, or the file.
	Unknown []string
}

// Compare compares the stages of two commits. external are the Kustomizations of OCIRepositories that may differ: what is
// not compared of them is unknown. paths are the evaluated paths: what others build of a file outside of them is not known,
// so that it takes no lines.
func Compare(ctx context.Context, base, head *documents.Set, external []gitops.External, paths []string, registry *Registry) (Found, error) {
	var out Found
	var all []stage
	all, out.Unknown = stages(base, head)
	var done []documents.Consumer
	for _, s := range all {
		compared, err := s.compare(ctx, registry)
		switch {
		case err != nil:
			return out, err
		case compared == nil:
			continue
		}
		done = append(done, s.consumers...)
		s.place(head, paths, compared)
		out.Promotions = append(out.Promotions, compared)
		out.Unknown = append(out.Unknown, s.besides()...)
	}
	for _, e := range external {
		isDone := func(k documents.Consumer) bool { return e.Is(k.In(), k.Name) }
		if e.VariablesDiffer || !slices.ContainsFunc(done, isDone) {
			out.Unknown = append(out.Unknown, e.Sentence)
		}
	}
	return out, ctx.Err()
}

// compare compares the artifacts of a stage. It returns nil for one that Winnow has not rendered.
func (s stage) compare(ctx context.Context, registry *Registry) (*diff.Selection, error) {
	var unknown []string
	rendered, others := 0, 0
	for i, of := range []*State{&s.from, &s.to} {
		when := [...]string{"before: ", "after: "}[i]
		if of.Reference.Digest == "" {
			unknown = append(unknown, when+follows(of.Source, i == 0))
			continue
		}
		of.Artifact, of.Err = registry.Pull(ctx, of.Reference)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case of.Err != nil:
			unknown = append(unknown, when+of.Err.Error())
		case of.Artifact.Result == nil:
			others++
			unknown = append(unknown, fmt.Sprintf("%s%s is no artifact that Winnow has rendered: %s", when, of.Reference.Catalog, of.Artifact.Other))
		default:
			rendered++
		}
	}
	if rendered == 0 && others > 0 {
		return nil, nil
	}
	if len(unknown) > 0 {
		out := diff.NewSelection("", "")
		out.Unknown = unknown
		return s.describe(out), nil
	}
	out, err := registry.compare(ctx, s)
	if err != nil {
		return nil, err
	}
	out.From.Revision, out.To.Revision = s.from.Reference.Digest, s.to.Reference.Digest
	return s.describe(out), nil
}

// compare compares the artifacts of a stage. The caller may change the result.
func (r *Registry) compare(ctx context.Context, s stage) (*diff.Selection, error) {
	key := [4]string{s.from.Reference.Catalog, s.to.Reference.Catalog, strings.Join(s.lines, "\n"), strings.Join(s.former, "\n")}
	found, err := memo.Of(ctx, r.compared, key, func() (*diff.Selection, error) {
		return comparing.Compare(ctx, &comparing.Side{Subject: comparing.Stage, Result: s.from.Artifact.Result, Lines: s.former},
			&comparing.Side{Subject: comparing.Stage, Result: s.to.Artifact.Result, Lines: s.lines})
	})
	if err != nil {
		return nil, err
	}
	return found.Clone(), nil
}

// follows returns why a side without a digest is not known.
func follows(source documents.Source, older bool) string {
	switch {
	case source.Kind == "":
		return "there is no digest: what the cluster has applied is not known"
	case older:
		return "it " + source.Moves() + ": what the cluster has applied is not known"
	}
	return "it " + source.Moves() + " from now on: what that gets reaches the cluster without a comparison"
}

// describe adds what is known without the artifacts.
func (s stage) describe(out *diff.Selection) *diff.Selection {
	out.Namespace, out.Name, out.Cluster, out.File = s.to.Namespace, s.to.Name, s.to.Cluster, s.to.File
	out.OldFile = cmp.Or(s.from.File, out.File)
	out.Promotion = &diff.Promotion{Annotation: v1alpha1.ApproveAnnotation}
	before, after := s.from.Reference, s.to.Reference
	if before.Digest != "" {
		out.Promotion.From = before.Catalog
	}
	if after.Digest != "" {
		out.Promotion.To = after.Catalog
	}
	if before.Verified && !after.Verified {
		out.Loosened = append(out.Loosened, diff.Loosened{Field: "spec.verify", From: "set", To: "not set", Effect: "unsigned content is applied"})
	}
	if after.Suspended {
		out.Notes = append(out.Notes, "it is suspended: nothing is pulled until it is resumed")
	}
	if after.Ignore {
		out.Notes = append(out.Notes, "spec.ignore of its OCIRepository is not evaluated here")
	}
	for _, k := range s.consumers {
		if fields := k.Having("commonMetadata", "images", "namePrefix", "nameSuffix", "targetNamespace"); fields != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("its Kustomization %s has %s: what these change is not compared", k.Name, fields))
		}
	}
	return out
}

// besides returns what is not compared although the artifacts are.
func (s stage) besides() (unknown []string) {
	add := func(format string, args ...any) {
		unknown = append(unknown, s.to.In()+": "+fmt.Sprintf(format, args...))
	}
	// These may drop what the artifact has, such as the first of its versions.
	for _, k := range s.consumers {
		if fields := k.Having("components", "patches", "postBuild"); fields != "" {
			add("Kustomization %s has %s: what the cluster gets is not the artifact that is compared; change the CatalogSelection instead", k.Name, fields)
		}
	}
	if s.from.Kind != "" && s.from.Reference.Filter != s.to.Reference.Filter {
		name := manifest.NameOf(types.NamespacedName{Namespace: s.to.Namespace, Name: s.to.Name})
		add("OCIRepository %s has another spec.ignore or spec.layerSelector: what Flux takes from the artifact is known in the cluster only", name)
	}
	return unknown
}

// place sets the file that takes the lines: the one with the digest.
func (s stage) place(head *documents.Set, paths []string, compared *diff.Selection) {
	if !compared.IsHeld() {
		return
	}
	isIt := func(of stagefile.Stage) bool { return of.Name == s.to.Name && of.Digest == s.to.Reference.Digest }
	having := each.Where(s.to.Files(), func(file string) bool {
		return s.to.Cluster == "" || slices.ContainsFunc(stagesIn(head.Inputs[file]), isIt)
	})
	switch {
	case len(having) != 1:
		compared.Held.Advice = "the digest of " + excerpt.Quoted(s.to.Name) + " is not in one file alone: add the lines to the annotation by hand, where the digest comes from"
	case !repository.ContainsAny(paths, having[0]):
		compared.Held.Advice = having[0] + " is outside of the paths, and others may be built of it: pass them as well, or add the lines to the annotation by hand"
	default:
		compared.Held.File = having[0]
	}
}
