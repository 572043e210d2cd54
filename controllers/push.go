package controllers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
)

// push does a job and returns the address of the artifact, by its digest.
func (p *Pushes) push(ctx context.Context, job pushJob) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	packed, err := job.pack()
	if err != nil {
		return "", err
	}
	to, err := p.registries.connect(ctx, job.access)
	if err != nil {
		return "", err
	}
	defer to.close()
	pusher := registry.Pusher{Move: func(ctx context.Context, _ string, now v1.Descriptor) error {
		return job.mayMove(ctx, to, now)
	}}
	if err := pusher.Push(ctx, to.Repository, packed, job.tags); err != nil {
		return "", to.plain(err)
	}
	return job.access.url + "@" + packed.Manifest.Descriptor.Digest.String(), nil
}

// pack makes the artifact of the archive that is served. The same job gives the same digest.
func (job pushJob) pack() (registry.Artifact, error) {
	content, err := os.ReadFile(job.file)
	if err != nil {
		return registry.Artifact{}, fmt.Errorf("reading the archive: %w", err)
	}
	want := digest.Digest(job.digest)
	if err := want.Validate(); err != nil || want.Algorithm().FromBytes(content) != want {
		return registry.Artifact{}, errors.New("the archive in the storage is damaged")
	}
	return registry.Pack(v1alpha1.RenderedArtifactType, registry.NewBlob(v1.MediaTypeImageLayerGzip, content), map[string]string{
		v1.AnnotationRevision:        job.sources,
		v1alpha1.RevisionAnnotation:  job.revision,
		v1alpha1.SelectionAnnotation: job.selection,
	})
}

// tagConflict says that a tag names an artifact that this selection has not pushed.
type tagConflict struct {
	// what the tag names.
	what string
}

func (e *tagConflict) Error() string {
	return fmt.Sprintf("it names %s: choose another tag or another repository, or delete the tag", e.what)
}

// mayMove refuses to take a tag from what is not this selection's. Two selections that moved it in
// turns would have all clusters that follow the tag install and remove what each has.
func (job pushJob) mayMove(ctx context.Context, to *connection, now v1.Descriptor) error {
	_, raw, err := registry.FetchManifest(ctx, to.Repository, now.Digest.String())
	if err != nil {
		return err
	}
	var m v1.Manifest
	if err := json.Unmarshal(raw, &m); err != nil || m.ArtifactType != v1alpha1.RenderedArtifactType {
		return &tagConflict{now.Digest.String() + ", which no CatalogSelection has pushed"}
	}
	if owner := m.Annotations[v1alpha1.SelectionAnnotation]; owner != job.selection {
		return &tagConflict{fmt.Sprintf("%s, which the CatalogSelection %.130q has pushed", now.Digest, owner)}
	}
	if revision := m.Annotations[v1alpha1.RevisionAnnotation]; revision == job.revision || slices.Contains(job.compared, revision) {
		return nil
	}
	return job.compare(ctx, to, m)
}

// pushHeld says that what a tag names has what the new artifact lacks, though the record of the
// selection does not know of it.
type pushHeld struct {
	reason  string
	message string
}

func (e *pushHeld) Error() string { return e.message }

// compare holds a push that would take something away from the clusters that follow the tag: the
// record of the selection was lost, or begins later than what the tag names.
func (job pushJob) compare(ctx context.Context, to *connection, m v1.Manifest) error {
	if job.approved {
		return nil
	}
	if len(m.Layers) != 1 {
		return &pushHeld{v1alpha1.BaselineLostReason, "what the tag names cannot be compared: it has not one layer" + job.release()}
	}
	layer, err := registry.FetchLayer(ctx, to.Repository, m.Layers[0], archive.DefaultLimits().Compressed)
	if err != nil {
		return fmt.Errorf("reading what the tag names: %w", err)
	}
	before, err := render.ReadArtifact(ctx, bytes.NewReader(layer))
	if err != nil {
		return &pushHeld{v1alpha1.BaselineLostReason, "what the tag names cannot be compared: " + err.Error() + job.release()}
	}
	archived, err := os.Open(job.file)
	if err != nil {
		return fmt.Errorf("opening the archive: %w", err)
	}
	defer archived.Close()
	next, err := render.ReadArtifact(ctx, archived)
	if err != nil {
		return err
	}
	held := slices.DeleteFunc(safeguard.Compare(before, next), func(c safeguard.Change) bool {
		return !guard.Holds(job.safeguards, c.Reason)
	})
	if len(held) == 0 {
		return nil
	}
	hold := &holdError{status: v1alpha1.HeldStatus{Total: bounds.Count(len(held)), Reasons: heldReasons(held, selection.Result{})}}
	return &pushHeld{guard.MostSerious(held), "what the tag names has more: " + hold.Error() + job.release()}
}

// release says how a push is released that is held.
func (job pushJob) release() string {
	return "; to push it all the same, add to spec.safeguards.approve: " + guard.Checksum(job.revision)
}

// push has the artifact pushed that is served, if the spec wants it, and returns the condition Pushed
// without its type, nil without one. It waits for nothing.
func (r *CatalogSelectionReconciler) push(cs *v1alpha1.CatalogSelection) *metav1.Condition {
	key := client.ObjectKeyFromObject(cs)
	if cs.Spec.Push == nil || cs.Status.Artifact == nil {
		r.Pushes.forget(key)
		cs.Status.Push = nil
		return nil
	}
	known := conditions.Get(cs, v1alpha1.PushedCondition)
	if !r.Storage.ArtifactExist(*cs.Status.Artifact) {
		return known // there is nothing to push, until it is rendered again
	}
	job := r.pushJob(cs)
	result, done := r.Pushes.enqueue(key, job)
	var conflict *tagConflict
	var held *pushHeld
	switch {
	case !done && known != nil && known.Status == metav1.ConditionTrue && job.isPushed(cs.Status.Push):
		return known // a restart, and the registry is being looked at
	case !done:
		return conditions.UnknownCondition("", v1alpha1.ProgressingReason, "pushing %s to %s", bounds.ShortRevision(job.revision), job.access.url)
	case errors.As(result.err, &held):
		return conditions.FalseCondition("", held.reason, "%s", pushFailure(job, result.err))
	case errors.As(result.err, &conflict):
		return conditions.FalseCondition("", v1alpha1.TagConflictReason, "%s", pushFailure(job, result.err))
	case result.err != nil:
		return conditions.FalseCondition("", v1alpha1.PushFailedReason, "%s", pushFailure(job, result.err))
	}
	cs.Status.Push = &v1alpha1.PushStatus{URL: result.url, Revision: job.revision, Sources: job.sources, Tags: job.tags}
	return conditions.TrueCondition("", v1alpha1.SucceededReason, "pushed %s as %s", bounds.ShortRevision(job.revision), result.url)
}

func pushFailure(job pushJob, err error) string {
	return bounds.Truncate(fmt.Sprintf("pushing %s to %s: %v", bounds.ShortRevision(job.revision), job.access.url, err), bounds.ConditionMessage)
}

// pushJob says what is to be pushed. An artifact that is pushed already keeps the sources that its
// manifest names: they may have new revisions since that give the same content, and it would get
// another digest.
func (r *CatalogSelectionReconciler) pushJob(cs *v1alpha1.CatalogSelection) pushJob {
	artifact := cs.Status.Artifact
	job := pushJob{
		uid: cs.UID, access: pushAccess(cs), tags: cs.Spec.Push.Tags, interval: cs.Spec.Interval.Duration,
		file: r.Storage.LocalPath(*artifact), digest: artifact.Digest,
		revision: artifact.Revision, sources: artifact.Metadata[originRevision], selection: cs.Namespace + "/" + cs.Name,
	}
	if last := cs.Status.Push; last != nil && last.Revision == job.revision {
		job.sources = last.Sources
	}
	if record := recordOf(cs); record != nil {
		job.compared = record.revisions(cs)
	}
	job.safeguards = cs.Spec.Safeguards
	// That it was published here uses the approval up for what is published, not for what is pushed: it
	// names exactly this content.
	job.approved = guard.Approval{Needed: []string{guard.Checksum(job.revision)}}.GivenBy(cs.Spec.Safeguards.Approve)
	return job
}

// isPushed reports whether the status has the job done.
func (job pushJob) isPushed(status *v1alpha1.PushStatus) bool {
	return status != nil && status.Revision == job.revision && strings.HasPrefix(status.URL, job.access.url+"@")
}
