// SPDX-License-Identifier: Apache-2.0

package pushes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/guard"
)

// Sync enqueues a push of the served artifact, if there is a spec.push, and returns the last push for the status,
// and the condition Pushed without its type; both nil without a push. It does not wait for the push.
// published is the record of the artifact, nil if it cannot be read.
func (p *Pushes) Sync(cs *v1alpha1.CatalogSelection, published *record.Record) (*v1alpha1.PushStatus, *metav1.Condition) {
	key := client.ObjectKeyFromObject(cs)
	if cs.Spec.Push == nil || cs.Status.Artifact == nil {
		p.Forget(key)
		return nil, nil
	}
	last, known := cs.Status.Push, conditions.Get(cs, v1alpha1.PushedCondition)
	if !p.storage.ArtifactExist(*cs.Status.Artifact) {
		return last, known // nothing can be pushed until the archive is rendered again
	}
	job := p.job(cs, published)
	result, done := p.enqueue(key, job)
	switch {
	case !done && known != nil && known.Status == metav1.ConditionTrue && job.isPushed(last):
		return last, known // after a restart, until the registry was checked
	case !done:
		return last, conditions.UnknownCondition("", v1alpha1.ProgressingReason, "pushing %s to %s%s", bounds.ShortChecksum(job.revision), job.access.URL, p.waits(key))
	case result.err != nil:
		reason := v1alpha1.PushFailedReason
		if refused, ok := errors.AsType[*refusal](result.err); ok {
			reason = refused.reason
		}
		message := fmt.Sprintf("pushing %s to %s: %v", bounds.ShortChecksum(job.revision), job.access.URL, result.err)
		return last, conditions.FalseCondition("", reason, "%s", bounds.Truncate(message, bounds.ConditionMessage))
	}
	pushed := &v1alpha1.PushStatus{URL: result.url, Revision: job.revision, Sources: job.sources, Tags: job.tags}
	return pushed, conditions.TrueCondition("", v1alpha1.SucceededReason, "pushed %s as %s", bounds.ShortChecksum(job.revision), result.url)
}

// job returns the push that the selection requires. A pushed artifact keeps the source revisions in its
// manifest: later revisions with the same content would give it another digest.
func (p *Pushes) job(cs *v1alpha1.CatalogSelection, published *record.Record) pushJob {
	artifact := cs.Status.Artifact
	job := pushJob{
		uid: cs.UID, access: registries.OfPush(cs), tags: cs.Spec.Push.Tags,
		image: cs.Spec.Push.Type == v1alpha1.PushCatalogImage, interval: cs.Spec.Interval.Duration,
		file: p.storage.LocalPath(*artifact), digest: artifact.Digest,
		revision: artifact.Revision, sources: artifact.Metadata[v1.AnnotationRevision], selection: cs.Namespace + "/" + cs.Name,
	}
	if last := cs.Status.Push; last != nil && last.Revision == job.revision {
		job.sources = last.Sources
	}
	if published != nil {
		job.compared = published.PublishedRevisions(cs)
	}
	if last := cs.Status.Push; last != nil && slices.Contains(job.compared, last.Revision) {
		_, pushed, _ := strings.Cut(last.URL, "@")
		job.last = digest.Digest(pushed)
	}
	job.safeguards = cs.Spec.Safeguards
	// A publication in this cluster uses the line, but a push does not: it names exactly this content.
	exact := approval.Line{Checksum: guard.Checksum(job.revision)}
	job.approved = slices.ContainsFunc(approval.ParseAll(cs.Spec.Safeguards.Approve), func(l approval.Line) bool { return l.Names(exact) })
	return job
}

// isPushed reports whether the status records the job as done.
func (job pushJob) isPushed(status *v1alpha1.PushStatus) bool {
	return status != nil && status.Revision == job.revision && strings.HasPrefix(status.URL, job.access.URL+"@")
}
