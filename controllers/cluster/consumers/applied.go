// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Applied returns the condition Applied; nil without a revision, or if Kustomizations cannot be read. files has the known files
// of the applications, and patches are the patches of the spec. The condition names what the consumers change, whatever its
// status.
func (c Consumers) Applied(revision string, files Files, patches []kustomize.Patch) *metav1.Condition {
	applied := c.applied(revision, files, patches)
	if named := c.interfering(); applied != nil && named != "" {
		applied.Message += "; " + named
	}
	return applied
}

func (c Consumers) applied(revision string, files Files, patches []kustomize.Patch) *metav1.Condition {
	if !c.Known || revision == "" {
		return nil
	}
	if len(c.Items) == 0 {
		return &metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1alpha1.NoConsumerReason,
			Message: "no Kustomization in this cluster uses the ExternalArtifact"}
	}
	worst, waiting := c.worst()
	if worst == nil {
		return &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.SucceededReason,
			Message: fmt.Sprintf("applied by %d of %d Kustomizations, revision %s", len(c.Items), len(c.Items), bounds.ShortChecksum(revision))}
	}
	message := fmt.Sprintf("Kustomization %s/%s: %s%s", worst.Namespace, worst.Name, describeRefusal(worst.refused, files, patches), worst.Message+kinds.RequiredRelease(worst.Message))
	return &metav1.Condition{
		Status: metav1.ConditionFalse, Reason: worst.Reason, Message: excerpt.Clauses([]string{message}, 1, waiting-1, strings.Clone),
	}
}

// fetchPatience is how long a Kustomization may take to download an artifact before the condition Applied reports that.
const fetchPatience = 5 * time.Minute

// Remind adds to the condition Applied that the Kustomization in it has not downloaded a revision that was published long ago: since
// version 1.10, kustomize-controller reports an archive with another digest neither by an event nor with the digests.
func (c Consumers) Remind(applied *metav1.Condition, revision string, age time.Duration) {
	worst, _ := c.worst()
	if applied == nil || worst == nil || age < fetchPatience || worst.hasFetched(revision) {
		return
	}
	applied.Message += fmt.Sprintf("; for more than %.0f minutes it has not fetched the revision: unless its message has another cause, the archive that it gets "+
		"may not have the digest in the ExternalArtifact, as behind a cache or a proxy", fetchPatience.Minutes())
}

// worst returns the consumer with the most severe reason, nil if all have applied the artifact, and the number
// of consumers that have not.
func (c Consumers) worst() (*Consumer, int) {
	rank := []string{v1alpha1.ProgressingReason, v1alpha1.SuspendedReason, v1alpha1.ApplyFailedReason, v1alpha1.FeatureGateDisabledReason}
	var worst *Consumer
	waiting := 0
	for i := range c.Items {
		item := &c.Items[i]
		if item.Reason == "" {
			continue
		}
		waiting++
		if worst == nil || slices.Index(rank, item.Reason) > slices.Index(rank, worst.Reason) {
			worst = item
		}
	}
	return worst, waiting
}

// interfering names what the consumers change, empty if they change nothing; only the first few.
func (c Consumers) interfering() string {
	var named []string
	total := 0
	for _, item := range c.Items {
		for _, interference := range item.interferences {
			if total++; total <= maxInterferences {
				named = append(named, fmt.Sprintf("Kustomization %s/%s: %s", item.Namespace, item.Name, interference))
			}
		}
	}
	return excerpt.Clauses(named, len(named), total-len(named), strings.Clone)
}
