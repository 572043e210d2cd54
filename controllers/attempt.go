package controllers

import (
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster"
	"github.com/winnow-dev/winnow/controllers/listing"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// attempt is one reconciliation of a selection. Each step adds what it finds for those after it.
type attempt struct {
	start time.Time
	// selection gets the new status; found is the selection as it was found, and written as it was
	// written last.
	selection, found, written *v1alpha1.CatalogSelection
	// served says that the storage has the archive in the status.
	served bool
	// record is that of the last publication, nil where unread says why it cannot be read.
	record *record.Record
	unread error

	options   render.Options
	observed  []source.Observed
	loaded    []source.Loaded
	guarded   []guard.Source // loaded, as the safeguards compare it
	consumers cluster.Consumers
	result    *render.Result
	around    *cluster.Surroundings
	next      publication

	// names are known once something was rendered.
	names *unmatchedNames
	// sourceChanges are what a new revision takes from other sources under the same versions.
	sourceChanges []safeguard.Change
}

func newAttempt(cs *v1alpha1.CatalogSelection, start time.Time) *attempt {
	a := &attempt{start: start, selection: cs, found: cs.DeepCopy(), written: cs.DeepCopy()}
	a.record, a.unread = record.Read(cs)
	return a
}

// isNew reports whether the render is not what is served: while the artifact is withheld, all of it is new.
func (a *attempt) isNew() bool {
	return a.result.Revision != cluster.RevisionOf(a.selection) || a.selection.Status.Withheld != ""
}

// reachedNobody reports whether what was published last was neither served nor pushed: no cluster can lose it.
func (a *attempt) reachedNobody() bool {
	return cluster.AwaitsConsumer(a.selection) && a.selection.Spec.Push == nil
}

// addsUnknown reports whether the spec has names that match nothing and that the last publication lacks.
func (a *attempt) addsUnknown() bool {
	var last guard.Published
	if !a.reachedNobody() {
		last = a.record.Published()
	}
	return guard.AddsUnknown(last, guard.Next{Selection: a.selection, Sources: a.guarded})
}

// list writes what is published into the status, for people.
func (a *attempt) list() {
	p := listing.Publication{
		Artifact: a.next.artifact, Result: a.result, Sources: a.next.sources, Took: time.Since(a.start),
	}
	if cluster.RevisionOf(a.selection) != a.result.Revision {
		a.sourceChanges = sourceChanges(a.record.Published().Definitions, a.result.Definitions)
		changes := len(a.sourceChanges)
		p.SourceChanges = &changes
	}
	p.WriteTo(a.selection)
}

// publication is what was published for a selection, and from what.
type publication struct {
	uid        types.UID
	generation int64
	requested  string
	sources    []v1alpha1.SourceStatus
	artifact   meta.Artifact
	// names are what the render found out about names in the spec.
	names *unmatchedNames
	// files of the applications in their catalogs.
	files cluster.Files
}

func publicationOf(cs *v1alpha1.CatalogSelection, observed []source.Observed) publication {
	p := publication{uid: cs.UID, generation: cs.Generation}
	p.requested, _ = meta.ReconcileAnnotationValue(cs.Annotations)
	for _, s := range observed {
		p.sources = append(p.sources, s.Status())
	}
	return p
}

// sameInputs reports whether both were rendered by the same spec from the same artifacts, for the same
// request.
func (p publication) sameInputs(other publication) bool {
	return p.sameSources(other) && p.requested == other.requested
}

// sameSources reports whether both were rendered by the same spec from the same artifacts.
func (p publication) sameSources(other publication) bool {
	return p.uid == other.uid && p.generation == other.generation && slices.Equal(p.sources, other.sources)
}

func filesOf(result *render.Result) cluster.Files {
	files := cluster.Files{}
	for _, d := range result.Selection.Applications() {
		files[d.Application.Name] = d.Application.Path + " of source " + d.Source
	}
	return files
}

// sourceChanges returns what the definitions take from other sources than those that were published
// before under the same versions. Where that is not known, nothing.
func sourceChanges(published, next []safeguard.Definition) []safeguard.Change {
	return slices.DeleteFunc(safeguard.Compare(published, next), func(c safeguard.Change) bool {
		return c.Reason != v1alpha1.SourceChangeReason
	})
}
