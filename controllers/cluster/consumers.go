package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/acl"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/bounds"
	"github.com/winnow-dev/winnow/controllers/kinds"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Bounds of status.consumers: the number of entries, and the bytes of a message.
const (
	maxConsumers       = 50
	maxConsumerMessage = 512
)

// Consumers are the Kustomizations that use the artifact of a selection.
type Consumers struct {
	// Known is false if Kustomizations cannot be read.
	Known bool
	items []consumer
}

// consumer is a Kustomization that uses the artifact.
type consumer struct {
	v1alpha1.ConsumerStatus
	uid types.UID
	// reason is the reason of the condition Applied if the artifact is not applied; empty if it is.
	reason string
	// refused is the object that the API server refused, which is why it failed.
	refused refusal
	// failed reports whether it could not apply the revision. Until it has fetched one, nothing is known: each Kustomization
	// that is created before its source has an artifact begins with ArtifactFailed.
	failed bool
	// prune reports whether the Kustomization deletes objects that leave the artifact, and suspended whether it applies
	// nothing.
	prune, suspended bool
	// prefix and suffix are added to the names of objects.
	prefix, suffix string
	// namespace replaces that of objects that have one; empty if it does not.
	namespace string
	// interferences are what its spec changes of what is published.
	interferences []string
	// patches are those of its spec. They belong to the cache.
	patches []kustomize.Patch
}

func (c consumer) key() types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
}

// live returns the key of an object after the consumer has applied it.
func (c consumer) live(key safeguard.Key) safeguard.Key {
	key.Name = c.prefix + key.Name + c.suffix
	if key.Namespace != "" && c.namespace != "" {
		key.Namespace = c.namespace
	}
	return key
}

// local returns the consumers that apply to this cluster.
func (c Consumers) local() []consumer {
	return slices.DeleteFunc(slices.Clone(c.items), func(item consumer) bool { return item.Remote })
}

// naming returns the consumers that name objects in this cluster: without any, one that names them as the artifact does.
func (c Consumers) naming() []consumer {
	if local := c.local(); len(local) > 0 {
		return local
	}
	return []consumer{{}}
}

// None reports whether it is known that no Kustomization uses the artifact.
func (c Consumers) None() bool { return c.Known && len(c.items) == 0 }

// ActHere reports whether a consumer applies to this cluster.
func (c Consumers) ActHere() bool { return len(c.local()) > 0 }

// mayActHere reports whether a consumer applies to this cluster, or one might that cannot be read.
func (c Consumers) mayActHere() bool { return !c.Known || c.ActHere() }

// appliedHere reports whether all consumers of this cluster, at least one, have applied the artifact.
func (c Consumers) appliedHere() bool {
	unapplied := func(item consumer) bool { return item.reason != "" }
	return c.ActHere() && !slices.ContainsFunc(c.local(), unapplied)
}

// action is what a selection does to this cluster: a change of it may begin or end a conflict with others.
type action struct {
	here bool
	// applied is the revision that all consumers of this cluster have applied, if they have.
	applied string
}

func (c Consumers) action(revision string) action {
	a := action{here: c.ActHere()}
	if c.appliedHere() {
		a.applied = revision
	}
	return a
}

// include reports whether a Kustomization is a consumer that applies to this cluster.
func (c Consumers) include(key types.NamespacedName) bool {
	return slices.ContainsFunc(c.local(), func(item consumer) bool { return item.key() == key })
}

// liveKeys returns the keys that definitions, and the releases of instances, have in this cluster once they are applied.
func (c Consumers) liveKeys(definitions []safeguard.Definition) Keys {
	live := make(Keys, len(definitions))
	for _, item := range c.naming() {
		for _, d := range definitions {
			live[item.live(d.Key())] = true
		}
	}
	for _, r := range c.releases(definitions) {
		live[r.key] = true
	}
	return live
}

// release is the key of a release that a live object has. In the namespace of the object, it is at home.
type release struct{ key, object safeguard.Key }

func (r release) home() bool { return r.key.Namespace == r.object.Namespace }

// releases returns the releases of instances as the consumers name them.
func (c Consumers) releases(definitions []safeguard.Definition) []release {
	var all []release
	for _, item := range c.naming() {
		for _, d := range definitions {
			object := item.live(d.Key())
			d.Namespace = object.Namespace // that of the release of an object that is installed where it is
			for _, key := range d.Releases() {
				all = append(all, release{key, object})
			}
		}
	}
	return all
}

// home returns the keys of the releases that are at home.
func home(releases []release) Keys {
	keys := Keys{}
	for _, r := range releases {
		if r.home() {
			keys[r.key] = true
		}
	}
	return keys
}

// liveDefinitions returns definitions with the names that they have in this cluster once they are applied.
func (c Consumers) liveDefinitions(definitions []safeguard.Definition) []safeguard.Definition {
	named := func(item consumer) bool { return item.prefix != "" || item.suffix != "" || item.namespace != "" }
	if !slices.ContainsFunc(c.local(), named) {
		return definitions
	}
	var live []safeguard.Definition
	for _, item := range c.local() {
		for _, d := range definitions {
			key := item.live(d.Key())
			d.Namespace, d.Name = key.Namespace, key.Name
			live = append(live, d)
		}
	}
	return live
}

// rendered returns the key that a live object has in the artifact.
func (c consumer) rendered(key safeguard.Key) safeguard.Key {
	if name, ok := strings.CutPrefix(key.Name, c.prefix); ok {
		if name, ok = strings.CutSuffix(name, c.suffix); ok {
			key.Name = name
		}
	}
	return key
}

// ConsumersOf returns the Kustomizations that use the artifact of cs.
func (c *Cluster) ConsumersOf(ctx context.Context, cs *v1alpha1.CatalogSelection) (Consumers, error) {
	reader, err := c.Kinds.Look(ctx, c.kustomizations(), client.ObjectKeyFromObject(cs))
	if errors.Is(err, kinds.ErrForbidden) {
		c.reportForbidden(ctx, cs, err, "the Kustomizations that apply the artifact are not known, so that there is no condition Applied, and conflicts with other selections are not found; config/rbac allows it")
	}
	if kinds.Settled(err) {
		return Consumers{}, nil
	}
	if err != nil {
		return Consumers{}, err
	}
	var list kustomizev1.KustomizationList
	named := client.MatchingFields{kinds.Index: client.ObjectKeyFromObject(cs).String()}
	if err := reader.List(ctx, &list, named, client.UnsafeDisableDeepCopy); err != nil {
		return Consumers{}, fmt.Errorf("listing Kustomizations: %w", err)
	}
	found := Consumers{Known: true}
	for i := range list.Items {
		found.items = append(found.items, consumerOf(&list.Items[i], RevisionOf(cs)))
	}
	slices.SortFunc(found.items, func(a, b consumer) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return found, nil
}

// consumerOf returns the state of a Kustomization with respect to the revision that it should have applied.
//
// Ready is Unknown while it applies the same revision again, as it does at every interval: the state stays. A
// failure counts if it was with this revision, came before any revision was attempted, or is final.
func consumerOf(ks *kustomizev1.Kustomization, revision string) consumer {
	c := consumer{ConsumerStatus: v1alpha1.ConsumerStatus{
		Namespace: ks.Namespace, Name: ks.Name, Remote: ks.Spec.KubeConfig != nil,
		Revision: ks.Status.LastAppliedRevision,
	}, uid: ks.UID, prune: ks.Spec.Prune, suspended: ks.Spec.Suspend, prefix: ks.Spec.NamePrefix, suffix: ks.Spec.NameSuffix, namespace: ks.Spec.TargetNamespace,
		interferences: interferences(ks.Spec), patches: ks.Spec.Patches}
	failed := conditions.IsFalse(ks, meta.ReadyCondition)
	readyMessage := strings.TrimSpace(conditions.GetMessage(ks, meta.ReadyCondition))
	message := bounds.Truncate(readyMessage, maxConsumerMessage)
	switch {
	case c.Revision == revision && !failed:
	case failed && conditions.GetReason(ks, meta.ReadyCondition) == acl.AccessDeniedReason && strings.Contains(message, "feature gate"):
		c.reason = v1alpha1.FeatureGateDisabledReason
		c.Message = message + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"
	case ks.Spec.Suspend:
		c.reason, c.Message = v1alpha1.SuspendedReason, "is suspended"
	case failed && (ks.Status.LastAttemptedRevision == revision || ks.Status.LastAttemptedRevision == "" || conditions.IsStalled(ks)):
		c.reason, c.Message, c.refused = v1alpha1.ApplyFailedReason, message, c.refusedIn(readyMessage)
		c.failed = conditions.GetReason(ks, meta.ReadyCondition) != meta.ArtifactFailedReason &&
			(ks.Status.LastAttemptedRevision == revision || conditions.IsStalled(ks))
	default:
		c.reason, c.Message = v1alpha1.ProgressingReason, "has not applied the revision yet"
	}
	return c
}

// Statuses returns status.consumers.
func (c Consumers) Statuses() []v1alpha1.ConsumerStatus {
	var out []v1alpha1.ConsumerStatus
	for _, item := range c.items[:min(len(c.items), maxConsumers)] {
		out = append(out, item.ConsumerStatus)
	}
	return out
}

// Applied returns the condition Applied; nil without a revision, or if Kustomizations cannot be read. files are
// those of the applications, as far as they are known. Whatever its status, it names what the consumers change.
func (c Consumers) Applied(revision string, files Files) *metav1.Condition {
	applied := c.applied(revision, files)
	if named := c.interfering(); applied != nil && named != "" {
		applied.Message += "; " + named
	}
	return applied
}

func (c Consumers) applied(revision string, files Files) *metav1.Condition {
	if !c.Known || revision == "" {
		return nil
	}
	if len(c.items) == 0 {
		return &metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1alpha1.NoConsumerReason,
			Message: "no Kustomization in this cluster uses the ExternalArtifact"}
	}
	worst, waiting := c.worst()
	if worst == nil {
		return &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.SucceededReason,
			Message: fmt.Sprintf("applied by %d of %d Kustomizations, revision %s", len(c.items), len(c.items), bounds.ShortChecksum(revision))}
	}
	message := fmt.Sprintf("Kustomization %s/%s: %s%s", worst.Namespace, worst.Name, describeRefusal(worst.refused, files), worst.Message)
	if waiting > 1 {
		message += fmt.Sprintf("; and %d more", waiting-1)
	}
	return &metav1.Condition{Status: metav1.ConditionFalse, Reason: worst.reason, Message: message}
}

// worst returns the consumer with the most severe reason, nil if all have applied the artifact, and the number
// of consumers that have not.
func (c Consumers) worst() (*consumer, int) {
	rank := []string{v1alpha1.ProgressingReason, v1alpha1.SuspendedReason, v1alpha1.ApplyFailedReason, v1alpha1.FeatureGateDisabledReason}
	var worst *consumer
	waiting := 0
	for i := range c.items {
		item := &c.items[i]
		if item.reason == "" {
			continue
		}
		waiting++
		if worst == nil || slices.Index(rank, item.reason) > slices.Index(rank, worst.reason) {
			worst = item
		}
	}
	return worst, waiting
}
