package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/acl"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/kinds"
)

// Bounds of status.consumers: entries, and bytes of a message.
const (
	maxConsumers       = 50
	maxConsumerMessage = 512
)

// consumers are the Kustomizations that use the artifact of a selection.
type consumers struct {
	// known is false where Kustomizations cannot be seen.
	known bool
	items []consumer
}

type consumer struct {
	v1alpha1.ConsumerStatus
	// reason why the artifact is not applied, one of Applied's; empty when it is.
	reason string
}

// actHere says whether one of them applies to this cluster.
func (c consumers) actHere() bool {
	return slices.ContainsFunc(c.items, func(item consumer) bool { return !item.Remote })
}

// mayActHere says whether one of them applies to this cluster, or one could that is not there yet.
func (c consumers) mayActHere() bool {
	return len(c.items) == 0 || c.actHere()
}

// appliedHere says whether all that apply to this cluster have applied the artifact.
func (c consumers) appliedHere() bool {
	return c.actHere() && !slices.ContainsFunc(c.items, func(item consumer) bool { return !item.Remote && item.reason != "" })
}

// kustomizations is how Kustomizations are watched.
func kustomizations() kinds.Kind {
	return kinds.Kind{
		GVK:       kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind),
		Object:    &kustomizev1.Kustomization{},
		Trim:      trimKustomization,
		Index:     func(o client.Object) []string { return consumedArtifact(o) },
		Concerned: concernedByKustomization,
	}
}

func trimKustomization(o client.Object) {
	ks, ok := o.(*kustomizev1.Kustomization)
	if !ok {
		return
	}
	ks.ManagedFields, ks.Annotations = nil, nil
	ks.Spec.Patches, ks.Spec.PostBuild, ks.Spec.HealthChecks, ks.Spec.HealthCheckExprs = nil, nil, nil, nil
	ks.Status.Inventory, ks.Status.History = nil, nil
}

// consumedArtifact returns the <namespace>/<name> of the ExternalArtifact that a Kustomization
// applies.
func consumedArtifact(o client.Object) []string {
	ks, ok := o.(*kustomizev1.Kustomization)
	if !ok || ks.Spec.SourceRef.Kind != sourcev1.ExternalArtifactKind {
		return nil
	}
	key := types.NamespacedName{Namespace: ks.Spec.SourceRef.Namespace, Name: ks.Spec.SourceRef.Name}
	if key.Namespace == "" {
		key.Namespace = ks.Namespace
	}
	return []string{key.String()}
}

// concernedByKustomization returns the selection whose artifact it uses, or used, when something
// changed that the status of the selection tells.
func concernedByKustomization(_ context.Context, older, newer client.Object) []types.NamespacedName {
	a, _ := older.(*kustomizev1.Kustomization)
	b, _ := newer.(*kustomizev1.Kustomization)
	if a != nil && b != nil && a.Generation == b.Generation &&
		a.Status.LastAppliedRevision == b.Status.LastAppliedRevision &&
		a.Status.LastAttemptedRevision == b.Status.LastAttemptedRevision &&
		equality.Semantic.DeepEqual(a.Status.Conditions, b.Status.Conditions) {
		return nil
	}
	var concerned []types.NamespacedName
	for _, ks := range []*kustomizev1.Kustomization{a, b} {
		if ks == nil {
			continue
		}
		for _, text := range consumedArtifact(ks) {
			namespace, name, _ := strings.Cut(text, "/")
			concerned = append(concerned, types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	return slices.Compact(concerned)
}

// consumersOf looks up the Kustomizations that use the artifact of cs.
func (r *CatalogSelectionReconciler) consumersOf(ctx context.Context, cs *v1alpha1.CatalogSelection) (consumers, error) {
	reader, err := r.Kinds.Look(ctx, kustomizations(), client.ObjectKeyFromObject(cs))
	if errors.Is(err, kinds.ErrForbidden) {
		r.sayForbidden(ctx, cs, err, "who applies the artifact is not known, so that Applied and conflicts with other selections are not told; config/rbac allows it")
	}
	if kinds.Settled(err) {
		return consumers{}, nil
	}
	if err != nil {
		return consumers{}, err
	}
	var list kustomizev1.KustomizationList
	named := client.MatchingFields{kinds.Index: client.ObjectKeyFromObject(cs).String()}
	if err := reader.List(ctx, &list, named, client.UnsafeDisableDeepCopy); err != nil {
		return consumers{}, fmt.Errorf("listing Kustomizations: %w", err)
	}
	found := consumers{known: true}
	for i := range list.Items {
		found.items = append(found.items, consumerOf(&list.Items[i], revisionOf(cs)))
	}
	slices.SortFunc(found.items, func(a, b consumer) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return found, nil
}

// consumerOf judges a Kustomization by the revision that it should have applied.
//
// While it applies the same revision once more, as it does at every interval, Ready is Unknown:
// that is no news. A failure counts when it was with this revision, came before any, or is final.
func consumerOf(ks *kustomizev1.Kustomization, revision string) consumer {
	c := consumer{ConsumerStatus: v1alpha1.ConsumerStatus{
		Namespace: ks.Namespace, Name: ks.Name, Remote: ks.Spec.KubeConfig != nil,
		Revision: ks.Status.LastAppliedRevision,
	}}
	failed := conditions.IsFalse(ks, meta.ReadyCondition)
	message := truncate(conditions.GetMessage(ks, meta.ReadyCondition), maxConsumerMessage)
	switch {
	case c.Revision == revision && !failed:
	case failed && conditions.GetReason(ks, meta.ReadyCondition) == acl.AccessDeniedReason && strings.Contains(message, "feature gate"):
		c.reason = v1alpha1.FeatureGateDisabledReason
		c.Message = message + "; start kustomize-controller with --feature-gates=ExternalArtifact=true"
	case ks.Spec.Suspend:
		c.reason, c.Message = v1alpha1.SuspendedReason, "is suspended"
	case failed && (ks.Status.LastAttemptedRevision == revision || ks.Status.LastAttemptedRevision == "" || conditions.IsStalled(ks)):
		c.reason, c.Message = v1alpha1.ApplyFailedReason, message
	default:
		c.reason, c.Message = v1alpha1.ProgressingReason, "has not applied the revision yet"
	}
	return c
}

// statuses returns what status.consumers tells.
func (c consumers) statuses() []v1alpha1.ConsumerStatus {
	var out []v1alpha1.ConsumerStatus
	for _, item := range c.items[:min(len(c.items), maxConsumers)] {
		out = append(out, item.ConsumerStatus)
	}
	return out
}

// applied returns the condition Applied; nil where there is nothing to say.
func (c consumers) applied(revision string) *metav1.Condition {
	if !c.known || revision == "" {
		return nil
	}
	if len(c.items) == 0 {
		return &metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1alpha1.NoConsumerReason,
			Message: "no Kustomization in this cluster uses the ExternalArtifact"}
	}
	worst, waiting := c.worst()
	if worst == nil {
		return &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.SucceededReason,
			Message: fmt.Sprintf("applied by %d of %d Kustomizations, revision %s", len(c.items), len(c.items), shortRevision(revision))}
	}
	message := fmt.Sprintf("Kustomization %s/%s: %s", worst.Namespace, worst.Name, worst.Message)
	if waiting > 1 {
		message += fmt.Sprintf("; and %d more", waiting-1)
	}
	return &metav1.Condition{Status: metav1.ConditionFalse, Reason: worst.reason, Message: message}
}

// worst returns the consumer that needs attention most, nil when all have applied the artifact,
// and the number of those that have not.
func (c consumers) worst() (*consumer, int) {
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
