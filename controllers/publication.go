// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/each"
)

// publication is an artifact of a selection with the inputs that it was rendered from.
type publication struct {
	uid        types.UID
	generation int64
	requested  string
	sources    []v1alpha1.SourceStatus
	artifact   meta.Artifact
	// names are the names in the spec that matched nothing.
	names *unmatchedNames
	// files maps applications to their files in the catalogs.
	files consumers.Files
}

func publicationOf(cs *v1alpha1.CatalogSelection, observed []source.Observed) publication {
	p := publication{uid: cs.UID, generation: cs.Generation}
	p.requested, _ = meta.ReconcileAnnotationValue(cs.Annotations)
	p.sources = each.Map(observed, source.Observed.Status)
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

func filesOf(result *render.Result) consumers.Files {
	files := consumers.Files{}
	for _, d := range result.Selection.Applications() {
		files[d.Application.Name] = consumers.File{Path: d.Application.Path, Source: d.Source}
	}
	return files
}

// lastPublication returns the last publication of the selection by this process.
func (r *CatalogSelectionReconciler) lastPublication(cs *v1alpha1.CatalogSelection) (publication, bool) {
	last, _ := r.published.Load(client.ObjectKeyFromObject(cs))
	p, ok := last.(publication)
	return p, ok && p.uid == cs.UID
}

// publishedFiles maps the applications of the artifact to their files; it is nil if another process published it.
func (r *CatalogSelectionReconciler) publishedFiles(cs *v1alpha1.CatalogSelection) consumers.Files {
	last, ok := r.lastPublication(cs)
	if !ok || last.artifact.Revision != consumers.RevisionOf(cs) {
		return nil
	}
	return last.files
}
