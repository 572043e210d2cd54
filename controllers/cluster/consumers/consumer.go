// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/acl"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Bounds of status.consumers: the number of entries, and the bytes of a message.
const (
	maxConsumers       = 50
	maxConsumerMessage = 512
)

// Consumer is a Kustomization that uses the artifact.
type Consumer struct {
	v1alpha1.ConsumerStatus
	// Reason is the reason of the condition Applied if the artifact is not applied; empty if it is.
	Reason string
	// attempted is the revision that it tried to apply last; a part of it may be applied.
	attempted string
	// refused is the object that the API server refused, which is why it failed.
	refused refusal
	// Failed reports whether it could not apply the revision. Until it has fetched one, nothing is known: each Kustomization
	// that is created before its source has an artifact begins with ArtifactFailed.
	Failed bool
	// Prune reports whether the Kustomization deletes objects that leave the artifact, and suspended whether it applies
	// nothing.
	Prune, Suspended bool
	// prefix and suffix are added to the names of objects.
	prefix, suffix string
	// namespace replaces the namespace of objects that have one; empty if it does not.
	namespace string
	// interferences are what its spec changes of what is published.
	interferences []string
	// patches of its spec. They belong to the cache.
	patches []kustomize.Patch
}

// Key returns the name of the Kustomization.
func (c Consumer) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
}

// HasTried reports whether the consumer has applied, or attempted to apply, a revision that begins with a prefix.
func (c Consumer) HasTried(prefix string) bool {
	return strings.HasPrefix(c.Revision, prefix) || strings.HasPrefix(c.attempted, prefix)
}

// Live returns the key of an object after the consumer has applied it.
func (c Consumer) Live(key safeguard.Key) safeguard.Key {
	key.Name = c.prefix + key.Name + c.suffix
	if key.Namespace != "" && c.namespace != "" {
		key.Namespace = c.namespace
	}
	return key
}

// Rendered returns the key that a live object has in the artifact.
func (c Consumer) Rendered(key safeguard.Key) safeguard.Key {
	if name, ok := strings.CutPrefix(key.Name, c.prefix); ok {
		if name, ok = strings.CutSuffix(name, c.suffix); ok {
			key.Name = name
		}
	}
	return key
}

// consumerOf returns the state of a Kustomization with respect to the revision that it should have applied.
//
// Ready is Unknown while it applies the same revision again, as it does at every interval: the state stays. A
// failure counts if it was with this revision, came before any revision was attempted, or is final, as by a wrong spec.path.
func consumerOf(ks *kustomizev1.Kustomization, revision string) Consumer {
	c := Consumer{ConsumerStatus: v1alpha1.ConsumerStatus{
		Namespace: ks.Namespace, Name: ks.Name, Remote: ks.Spec.KubeConfig != nil,
		Revision: ks.Status.LastAppliedRevision,
	}, attempted: ks.Status.LastAttemptedRevision, Prune: ks.Spec.Prune, Suspended: ks.Spec.Suspend, prefix: ks.Spec.NamePrefix, suffix: ks.Spec.NameSuffix, namespace: ks.Spec.TargetNamespace,
		interferences: interferences(ks.Spec), patches: ks.Spec.Patches}
	failed, pathless := conditions.IsFalse(ks, meta.ReadyCondition), lacksPath(ks)
	reason := conditions.GetReason(ks, meta.ReadyCondition)
	tried := ks.Status.LastAttemptedRevision == revision || conditions.IsStalled(ks)
	readyMessage := strings.TrimSpace(conditions.GetMessage(ks, meta.ReadyCondition))
	message := bounds.Truncate(readyMessage, maxConsumerMessage)
	switch {
	case hasApplied(ks, revision):
	case failed && reason == acl.AccessDeniedReason && strings.Contains(message, "feature gate"):
		c.Reason = v1alpha1.FeatureGateDisabledReason
		c.Message = message + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"
	case ks.Spec.Suspend:
		c.Reason, c.Message = v1alpha1.SuspendedReason, "is suspended"
	case failed && (tried || ks.Status.LastAttemptedRevision == "" || pathless):
		c.Reason, c.Message, c.refused = v1alpha1.ApplyFailedReason, message, refusedIn(readyMessage, c.prefix, c.suffix)
		c.Failed = pathless || reason != meta.ArtifactFailedReason && tried
	default:
		c.Reason, c.Message = v1alpha1.ProgressingReason, "has not applied the revision yet"
		if failed && slices.Contains([]string{meta.ArtifactFailedReason, meta.DependencyNotReadyReason}, reason) {
			c.Message += ": " + message
		}
	}
	return c
}

// hasFetched reports whether a consumer that has not applied a revision has at least its archive, or is not to get it.
func (c Consumer) hasFetched(revision string) bool {
	switch c.Reason {
	case v1alpha1.ProgressingReason:
		return c.attempted == revision
	case v1alpha1.ApplyFailedReason:
		return c.Failed
	}
	return true
}

// hasApplied reports whether a Kustomization has applied a revision, empty for none, and not failed at it since.
func hasApplied(ks *kustomizev1.Kustomization, revision string) bool {
	return revision != "" && ks.Status.LastAppliedRevision == revision && !conditions.IsFalse(ks, meta.ReadyCondition)
}

// lacksPath reports whether an artifact had no spec.path, which is true of all: they have nothing to build but their root.
func lacksPath(ks *kustomizev1.Kustomization) bool {
	return conditions.GetReason(ks, meta.ReadyCondition) == meta.ArtifactFailedReason &&
		strings.HasPrefix(conditions.GetMessage(ks, meta.ReadyCondition), "kustomization path not found")
}

// Awaited reports whether the artifact of a selection is withheld until a Kustomization uses it, whose
// inventory is compared first.
func Awaited(cs *v1alpha1.CatalogSelection) bool {
	return cs.Status.Withheld == v1alpha1.NoConsumerReason
}

// RevisionOf returns the revision of the artifact of a selection, empty without one.
func RevisionOf(cs *v1alpha1.CatalogSelection) string {
	if cs.Status.Artifact == nil {
		return ""
	}
	return cs.Status.Artifact.Revision
}
