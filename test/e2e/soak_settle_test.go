//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// settle waits until the system is where the model is, and remembers which objects it has seen.
func (k *soak) settle(did string) {
	k.poll(did, func(ctx context.Context) error {
		if err := k.selectionSettled(ctx); err != nil {
			return err
		}
		now, err := k.definitions(ctx)
		if err != nil {
			return err
		}
		return k.compare(now)
	})
}

// poll looks more often than await does: most steps take less than its pulse.
func (k *soak) poll(did string, check func(context.Context) error) {
	const pulse = 20 * time.Millisecond
	var last error
	err := wait.PollUntilContextTimeout(k.t.Context(), pulse, patience, true, func(ctx context.Context) (bool, error) {
		if err := check(ctx); ctx.Err() == nil {
			last = err
		}
		return last == nil, nil
	})
	if err != nil {
		k.t.Fatalf("seed %d: %s: %v", k.seed, did, last)
	}
}

// verdict tells what the model says of the source's revision.
func (k *soak) verdict() string {
	if len(k.model.held) > 0 {
		return "held by " + strings.Join(k.model.held, ", ")
	}
	return fmt.Sprintf("%d published, %d live", len(k.model.published), len(k.model.live))
}

// selectionSettled says whether the selection has decided as the model has, and whether what it
// publishes is applied.
func (k *soak) selectionSettled(ctx context.Context) error {
	cs, ea, ks, err := k.live(ctx)
	if err != nil {
		return err
	}
	if cs.Status.ObservedGeneration != cs.Generation {
		return fmt.Errorf("generation %d, observed %d", cs.Generation, cs.Status.ObservedGeneration)
	}
	if err := k.decided(cs); err != nil {
		return fmt.Errorf("%w; conditions %+v", err, cs.Status.Conditions)
	}
	artifact := cs.Status.Artifact
	if artifact == nil || ea.Status.Artifact == nil || ea.Status.Artifact.Revision != artifact.Revision ||
		ks.Status.LastAppliedRevision != artifact.Revision || !conditions.IsReady(ks) || !conditions.IsTrue(cs, v1alpha1.AppliedCondition) {
		return fmt.Errorf("selection %+v, ExternalArtifact %+v, Kustomization %+v", artifact, ea.Status.Artifact, ks.Status.Conditions)
	}
	if requested, _ := meta.ReconcileAnnotationValue(ks.Annotations); ks.Status.GetLastHandledReconcileRequest() != requested {
		return errors.New("the Kustomization has not been reconciled")
	}
	return nil
}

// decided compares what the selection says of the source's revision with the model.
func (k *soak) decided(cs *v1alpha1.CatalogSelection) error {
	if !conditions.IsReady(cs) && !k.lost {
		return errors.New("the selection is not ready")
	}
	at := ""
	for _, source := range cs.Status.Sources {
		at += source.Revision
	}
	var held []string
	if cs.Status.Held != nil {
		at = cs.Status.Held.Revision
		held = heldReasons(cs.Status.Held)
	}
	if want := k.model.source.String(); at != want {
		return fmt.Errorf("it is at the source's revision %s, want %s", at, want)
	}
	if !slices.Equal(held, k.model.held) {
		return fmt.Errorf("held by %q, want %q", held, k.model.held)
	}
	var published, want []string
	for _, a := range cs.Status.Applications {
		published = append(published, fmt.Sprint(a.Name, a.Versions))
	}
	for _, name := range slices.Sorted(maps.Keys(k.model.published)) {
		want = append(want, fmt.Sprint(name, k.model.published[name].versions))
	}
	if !slices.Equal(published, want) {
		return fmt.Errorf("published are %v, want %v", published, want)
	}
	if got, want := slices.Sorted(slices.Values(cs.Status.Bypassed)), k.model.bypassed(); !slices.Equal(got, want) {
		return fmt.Errorf("bypassed are %v, want %v", got, want)
	}
	return nil
}

// heldReasons spells the reasons as the model does.
func heldReasons(status *v1alpha1.HeldStatus) (reasons []string) {
	for _, r := range status.Reasons {
		switch r.Reason {
		case v1alpha1.EmptyResultReason:
			reasons = append(reasons, r.Reason)
		case v1alpha1.RemovalReason:
			reasons = append(reasons, r.Reason+" "+r.Application)
		default:
			for _, v := range r.Versions {
				reasons = append(reasons, r.Reason+" "+r.Application+" "+v)
			}
		}
	}
	slices.Sort(reasons)
	return reasons
}

// compare returns how the live definitions differ from the model's, and keeps their UIDs when they
// do not.
func (k *soak) compare(now map[string]unstructured.Unstructured) error {
	var diff strings.Builder
	for _, name := range slices.Sorted(maps.Keys(k.model.live)) {
		want := k.model.live[name]
		object, lives := now[name]
		if got := showLive(object); !lives {
			fmt.Fprintf(&diff, "\n- %s", want)
		} else if got != want.String() {
			fmt.Fprintf(&diff, "\n- %s\n+ %s", want, got)
		} else if want.uid != "" && object.GetUID() != want.uid {
			fmt.Fprintf(&diff, "\n! %s was deleted and created again", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, wanted := k.model.live[name]; !wanted {
			fmt.Fprintf(&diff, "\n+ %s", showLive(now[name]))
		}
	}
	if diff.Len() > 0 {
		return fmt.Errorf("the cluster (+) is not as the model (-) says:%s", diff.String())
	}
	for name, object := range now {
		k.model.live[name].uid = object.GetUID()
	}
	return nil
}

// showLive spells a definition as the model does.
func showLive(d unstructured.Unstructured) string {
	l := liveApp{app: app{name: d.GetName()}}
	values, _, _ := unstructured.NestedString(d.Object, "spec", "defaultValuesBlock")
	l.values = values
	if _, err := fmt.Sscanf(values, "note: %q #", &l.values); err != nil {
		l.values = values
	}
	versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
	for _, v := range versions {
		version, _, _ := unstructured.NestedString(v.(map[string]any), "version")
		l.versions = append(l.versions, version)
	}
	text := l.String()
	if _, labelled := d.GetLabels()[v1alpha1.BypassLabel]; labelled {
		text += " bypassed"
	}
	if d.GetAnnotations()[reconcileAnnotation] == "disabled" {
		text += " and marked"
	}
	return text
}

// setBypass labels a live definition as the model has it.
func (k *soak) setBypass(name string) {
	var value any
	if k.model.live[name].bypassed {
		value = "true"
	}
	k.label(k.t.Context(), name, v1alpha1.BypassLabel, value)
}

// writeSpec gives the selection the spec of the model, in one patch.
func (k *soak) writeSpec(suspend bool) {
	cs, spec := k.selection.DeepCopy(), k.model.spec
	k.update(cs, func() {
		cs.Spec.Suspend = suspend
		cs.Spec.Limit.MetadataSelector.TierRefs = spec.tiers
		cs.Spec.Exclude = spec.excluded
		cs.Spec.Safeguards.Approve = spec.approved
	})
}

// awaitSuspended waits until the controller has seen that the selection is suspended, which it
// tells by a metric only.
func (k *soak) awaitSuspended() {
	want := fmt.Sprintf("gotk_suspend_status{kind=%q,name=%q,namespace=%q} 1\n", v1alpha1.CatalogSelectionKind, k.name, k.name)
	k.poll("suspended", func(context.Context) error {
		response, err := http.Get("http://" + system.controller.MetricsAddr + "/metrics")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		metrics, err := io.ReadAll(response.Body)
		if err == nil && !strings.Contains(string(metrics), want) {
			err = errors.New("the metric does not say so")
		}
		return err
	})
}

// awaitPulled waits until Flux serves a revision.
func (k *soak) awaitPulled(revision catalogRevision) {
	k.poll("pulled "+revision.tag, func(ctx context.Context) error {
		repository := k.repository()
		if err := system.Client().Get(ctx, keyOf(repository), repository); err != nil {
			return err
		}
		if a := repository.Status.Artifact; a == nil || a.Revision != revision.String() {
			return fmt.Errorf("it is at %+v", a)
		}
		return nil
	})
}

// requestReconcile asks for a reconciliation of the Kustomization.
func (k *soak) requestReconcile(request string) {
	ks := &kustomizev1.Kustomization{}
	ks.Name, ks.Namespace = k.name, k.name
	k.update(ks, func() {
		ks.Annotations = map[string]string{meta.ReconcileRequestAnnotation: request}
	})
}

// deleteDefinitions deletes what the test leaves behind.
func (k *soak) deleteDefinitions() {
	ctx := context.WithoutCancel(k.t.Context())
	left, err := k.definitions(ctx)
	if err != nil {
		k.t.Error(err)
	}
	for _, d := range left {
		k.remove(&d)
	}
}
