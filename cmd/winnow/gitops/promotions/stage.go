// SPDX-License-Identifier: Apache-2.0

package promotions

import (
	"cmp"
	"fmt"
	"slices"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/render/each"
)

// stage is an OCIRepository whose Kustomization gets another artifact.
type stage struct {
	// consumers are the Kustomizations of to that are the same stage; none where they are not in the repository.
	consumers []documents.Consumer
	// from and to are the OCIRepositories; from has none if the Kustomization, or its OCIRepository, is new.
	from, to State
	// lines name what the promotion loses. former are the lines that the OCIRepository of this name had before: itself, in the
	// files that it is built of now, or in gone files, whose objects may have another name now.
	lines, former []string
}

// stages returns the stages that differ, in the order of the newer commit. unknown has a sentence for each stage that is not
// known, because there are several OCIRepositories of the name.
func stages(base, head *documents.Set) (all []stage, unknown []string) {
	add := func(s *stage, err error, where documents.Origin, name types.NamespacedName) {
		if err != nil {
			unknown = append(unknown, fmt.Sprintf("%s: OCIRepository %s: %v", where.In(), manifest.NameOf(name), err))
		}
		if s != nil {
			all = append(all, *s)
		}
	}
	for _, consumer := range head.Consumers {
		if consumer.Kind == sourcev1.OCIRepositoryKind {
			s, err := stageOf(base, head, consumer)
			add(s, err, consumer.Origin, consumer.SourceName)
		}
	}
	// The Kustomizations of others may be in another repository.
	for _, to := range head.Unused(sourcev1.OCIRepositoryKind) {
		name := types.NamespacedName{Namespace: to.Namespace, Name: to.Name}
		s, err := unappliedStage(base, head, to, name)
		add(s, err, to.Origin, name)
	}
	gone := slices.Concat(each.Map(base.Removed, stagesIn)...)
	key := func(s stage) [5]string {
		return [5]string{s.to.Cluster, s.to.File, s.to.Namespace, s.to.Name, s.from.Reference.Catalog}
	}
	return each.Map(each.Group(all, key), func(same []stage) stage { // several Kustomizations may apply one
		s := same[0]
		s.consumers = slices.Concat(each.Map(same, func(one stage) []documents.Consumer { return one.consumers })...)
		s.former = formerLines(base, s.to.Source, gone)
		return s
	}), unknown
}

// unappliedStage returns the stage of an OCIRepository that no Kustomization applies; nil if it is new, or does not differ.
func unappliedStage(base, head *documents.Set, to documents.Source, name types.NamespacedName) (*stage, error) {
	before, after := base.Nearest(to.Origin, to.Kind, name), head.Nearest(to.Origin, to.Kind, name)
	if len(before) == 0 || slices.EqualFunc(before, after, documents.Source.IsSame) {
		return nil, nil
	}
	if err := cmp.Or(documents.SameDocument(before), documents.SameDocument(after)); err != nil {
		return nil, err
	}
	s := newStage(nil, &before[0], to)
	if s != nil && s.from.Reference.Chart && s.to.Reference.Chart {
		return nil, nil // of a HelmRelease, whose registry may need credentials
	}
	return s, nil
}

// stageOf returns the stage of a Kustomization; nil if it is none, or does not differ.
func stageOf(base, head *documents.Set, consumer documents.Consumer) (*stage, error) {
	older := formerOf(base, consumer)
	to, err := sourceOf(head, consumer)
	if err != nil && older != nil && slices.EqualFunc(sourcesOf(base, *older), sourcesOf(head, consumer), documents.Source.IsSame) {
		return nil, nil // several that stay are a note of the cluster
	}
	if to == nil || err != nil {
		return nil, err
	}
	var from *documents.Source
	if older != nil {
		if from, err = sourceOf(base, *older); err != nil {
			return nil, fmt.Errorf("before: %w", err)
		}
	}
	return newStage([]documents.Consumer{consumer}, from, *to), nil
}

// newStage returns a stage; nil if it does not differ. from may be nil.
func newStage(consumers []documents.Consumer, from *documents.Source, to documents.Source) *stage {
	s := &stage{consumers: consumers, to: State{Source: to}, lines: stagefile.Lines(to.Annotations[v1alpha1.ApproveAnnotation])}
	var err error
	s.to.Reference, err = to.Reference()
	if err == nil && from != nil {
		s.from.Source = *from
		s.from.Reference, err = from.Reference()
	}
	before, after := s.from.Reference, s.to.Reference
	if err != nil || before.Digest == "" && after.Digest == "" || before.Catalog == after.Catalog {
		return nil // what is not known of its source is unknown already
	}
	return s
}

// formerLines returns the lines that an OCIRepository had before, sorted. gone are the stages of files that are gone.
func formerLines(base *documents.Set, to documents.Source, gone []stagefile.Stage) (lines []string) {
	for _, same := range base.Nearest(to.Origin, to.Kind, types.NamespacedName{Namespace: to.Namespace, Name: to.Name}) {
		lines = append(lines, stagefile.Lines(same.Annotations[v1alpha1.ApproveAnnotation])...)
	}
	written := slices.Clone(gone)
	for _, file := range to.Files() {
		written = append(written, stagesIn(base.Content(file))...)
	}
	for _, s := range written {
		if s.Name == to.Name {
			lines = append(lines, stagefile.Lines(s.Approval)...)
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// stagesIn returns the stages of a file; none of one that is no YAML.
func stagesIn(content []byte) []stagefile.Stage {
	found, _ := stagefile.Find(content)
	return found
}

// sourceOf returns the OCIRepository of a Kustomization, nil if it is not in the commit.
func sourceOf(r *documents.Set, consumer documents.Consumer) (*documents.Source, error) {
	nearest := sourcesOf(r, consumer)
	if len(nearest) == 0 {
		return nil, nil
	}
	return &nearest[0], documents.SameDocument(nearest)
}

// sourcesOf returns the OCIRepositories with the name of a Kustomization's source.
func sourcesOf(r *documents.Set, consumer documents.Consumer) []documents.Source {
	if consumer.Kind != sourcev1.OCIRepositoryKind {
		return nil
	}
	return r.Nearest(consumer.Origin, consumer.Kind, consumer.SourceName)
}

// formerOf returns the Kustomization of the same cluster, or file, and name; nil if there was none.
func formerOf(base *documents.Set, consumer documents.Consumer) *documents.Consumer {
	i := slices.IndexFunc(base.Consumers, func(k documents.Consumer) bool { return k.Continues(consumer) })
	if i < 0 {
		return nil
	}
	return &base.Consumers[i]
}
