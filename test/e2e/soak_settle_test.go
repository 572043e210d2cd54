// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

const day = 24 * time.Hour

// poll polls more often than await of a scenario: most steps take less time than its pulse.
func (k *soak) poll(did string, check func(context.Context) error) {
	k.t.Helper()
	if err := k.wait(40*time.Second, check); err != nil {
		k.t.Fatalf("seed %d: %s: %v", k.seed, did, err)
	}
}

// wait polls check and returns its last error, or nil.
func (k *soak) wait(patience time.Duration, check func(context.Context) error) error {
	const pulse = 20 * time.Millisecond
	last := errors.New("nothing was read in time")
	err := wait.PollUntilContextTimeout(k.t.Context(), pulse, patience, true, func(ctx context.Context) (bool, error) {
		if err := check(ctx); ctx.Err() == nil {
			last = err
		}
		return last == nil, nil
	})
	if err != nil {
		return last
	}
	return nil
}

// settle waits until the system is in the state of the model, and records the UIDs of objects. Of several outcomes, the model
// follows the system.
func (k *soak) settle(did string) {
	k.t.Helper()
	k.model.now = time.Now()
	before, outcomes := k.model.String(), k.model.outcomes()
	var now *observed
	look := func(ctx context.Context) error {
		seen, err := k.look(ctx)
		if err != nil {
			return err
		}
		now = seen
		var errs []error
		for _, m := range outcomes {
			err := now.compare(m)
			if err == nil {
				k.model = m
				now.follow(m)
				return nil
			}
			errs = append(errs, fmt.Errorf("%w; the model is\n%s", err, m))
		}
		return errors.Join(errs...)
	}
	settled := k.wait(reminderDelay, look) == nil
	for range reminders {
		if !settled {
			k.remind(now, outcomes)
			settled = k.wait(reminderDelay, look) == nil
		}
	}
	if !settled {
		k.t.Logf("before, the model was\n%s", before)
		k.poll(did, look)
	}
	k.outwait()
}

// outwait waits for the end of a wait for others that would fall into the next step.
func (k *soak) outwait() {
	k.t.Helper()
	const margin = time.Minute
	if left := time.Until(k.model.soonest()); !k.model.soonest().IsZero() && left < margin {
		time.Sleep(left + time.Second)
		k.settle("the end of a wait for others")
	}
}

// follow records what the model cannot know: UIDs, checksums and times.
func (o *observed) follow(m *model) {
	for name, object := range o.live {
		l := m.live[name]
		if l.uid = object.GetUID(); !m.mayPrune(name) { // the mark of a move depends on when others have claimed it
			l.kept = object.GetAnnotations()[pruneAnnotation] == "disabled"
		}
	}
	for _, p := range m.parts {
		if p.suspended {
			continue
		}
		cs := o.selections[p.name]
		artifact := o.artifacts[p.name].Status.Artifact
		p.withheld = artifact == nil && m.mayWithhold(p, &cs)
		if artifact != nil {
			p.announced = artifact.Revision
		} else if !p.newer {
			artifact = cs.Status.Artifact
		}
		if artifact != nil {
			p.updated = artifact.LastUpdateTime.Time
		}
	}
}

// reminderDelay is longer than most steps. The object may not have moved at the first of the reminders.
const (
	reminderDelay = 8 * time.Second
	reminders     = 2
)

// remind requests a reconciliation of the Kustomizations that own marked definitions. A mark ends once its
// Kustomization has reconciled in a later second than that of the mark, without a new revision: at the
// next interval, which is a day here.
func (k *soak) remind(now *observed, outcomes []*model) {
	k.t.Helper()
	if now == nil {
		return
	}
	for i, p := range k.model.parts {
		marked := func(name string) bool {
			object, l := now.live[name], outcomes[0].live[name]
			return object.GetAnnotations()[pruneAnnotation] == "disabled" && l != nil && !l.kept && l.owner == p.applier
		}
		if p.paused || !outcomes[0].parts[i].served() || !slices.ContainsFunc(slices.Collect(maps.Keys(now.live)), marked) {
			continue
		}
		k.requests++
		k.requestReconcile(p)
		for _, m := range outcomes {
			m.apply(m.parts[i], true)
			m.settle([]int{0, 1, 2})
			m.tally["reminded"]++
		}
	}
}

// observed is the state of the system at one time.
type observed struct {
	selections     map[string]v1alpha1.CatalogSelection
	artifacts      map[string]sourcev1.ExternalArtifact
	kustomizations map[string]kustomizev1.Kustomization
	live           map[string]unstructured.Unstructured
}

func (k *soak) look(ctx context.Context) (*observed, error) {
	o := &observed{
		map[string]v1alpha1.CatalogSelection{}, map[string]sourcev1.ExternalArtifact{}, map[string]kustomizev1.Kustomization{}, nil,
	}
	var selections v1alpha1.CatalogSelectionList
	var artifacts sourcev1.ExternalArtifactList
	var kustomizations kustomizev1.KustomizationList
	for _, list := range []client.ObjectList{&selections, &artifacts, &kustomizations} {
		if err := system.Client().List(ctx, list, client.InNamespace(soakName)); err != nil {
			return nil, err
		}
	}
	for _, item := range selections.Items {
		o.selections[item.Name] = item
	}
	for _, item := range artifacts.Items {
		o.artifacts[item.Name] = item
	}
	for _, item := range kustomizations.Items {
		o.kustomizations[item.Name] = item
	}
	found, err := k.definitions(ctx)
	o.live = map[string]unstructured.Unstructured{}
	for name, d := range found {
		o.live[strings.TrimPrefix(name, soakName+"-")] = d
	}
	return o, err
}

// compare returns the difference between system and model, and records the checksums of renders in the model.
func (o *observed) compare(m *model) error {
	if len(o.selections) != len(m.parts) {
		return fmt.Errorf("there are %d selections", len(o.selections))
	}
	for _, p := range m.parts {
		if err := o.comparePart(m, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return o.compareLive(m)
}

func (o *observed) comparePart(m *model, p *modelPart) error {
	cs, exists := o.selections[p.name]
	ea, ks := o.artifacts[p.name], o.kustomizations[p.applier]
	if !exists {
		return errors.New("it does not exist")
	}
	if p.suspended {
		return nil
	}
	if cs.Status.ObservedGeneration != cs.Generation {
		return fmt.Errorf("generation %d, observed %d", cs.Generation, cs.Status.ObservedGeneration)
	}
	if err := o.decided(m, p, &cs); err != nil {
		return fmt.Errorf("%w; conditions %+v", err, cs.Status.Conditions)
	}
	artifact := ea.Status.Artifact
	if served := artifact != nil; served != p.served() && (served || !m.mayWithhold(p, &cs)) {
		return fmt.Errorf("served is %+v, want %t", artifact, p.served())
	}
	if artifact != nil && p.newer && artifact.Revision != p.announced {
		return fmt.Errorf("a restored status has announced %s instead of %s", artifact.Revision, p.announced)
	}
	if artifact == nil || p.paused {
		return nil
	}
	if !p.newer && cs.Status.Artifact != nil && artifact.Revision != cs.Status.Artifact.Revision ||
		ks.Status.LastAppliedRevision != artifact.Revision || !conditions.IsReady(&ks) {
		return fmt.Errorf("the selection has %+v, the ExternalArtifact %+v, the Kustomization %+v", cs.Status.Artifact, artifact, ks.Status)
	}
	if requested, _ := meta.ReconcileAnnotationValue(ks.Annotations); ks.Status.GetLastHandledReconcileRequest() != requested {
		return errors.New("the Kustomization has not been reconciled")
	}
	m.renders[guardChecksum(artifact.Revision)] = p.render(p.published)
	return nil
}

// guardChecksum returns the part of a revision that an approval names.
func guardChecksum(revision string) string { return revision[strings.LastIndexByte(revision, '@')+1:] }

// compareLive returns the difference between the live definitions and those of the model.
func (o *observed) compareLive(m *model) error {
	var diff strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.live)) {
		want := m.live[name]
		object, lives := o.live[name]
		got, wanted := showLive(name, object), want.String()
		if !m.mayPrune(name) {
			got, wanted = strings.TrimSuffix(got, " kept"), strings.TrimSuffix(wanted, " kept")
		}
		if !m.isApplied(name) && !want.bypassed { // it may be of a kind that nobody reads: the mark goes once the definition is published
			got = strings.Replace(got, " and marked", "", 1)
		}
		if !m.needsMark(name) && want.bypassed { // its publisher sets the mark later, and may have set it
			got = strings.Replace(got, " bypassed and marked", " bypassed", 1)
			got = strings.Replace(got, " bypassed", " bypassed and marked", 1)
		}
		if !lives {
			fmt.Fprintf(&diff, "\n- %s", want)
		} else if got != wanted {
			fmt.Fprintf(&diff, "\n- %s\n+ %s", wanted, got)
		} else if want.uid != "" && object.GetUID() != want.uid {
			fmt.Fprintf(&diff, "\n! %s was deleted and created again", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.live)) {
		if _, wanted := m.live[name]; !wanted {
			fmt.Fprintf(&diff, "\n+ %s", showLive(name, o.live[name]))
		}
	}
	if diff.Len() > 0 {
		return fmt.Errorf("the cluster (+) is not as the model (-) says:%s", diff.String())
	}
	return nil
}

// showLive formats a definition like the model.
func showLive(name string, d unstructured.Unstructured) string {
	l := liveApp{app: app{name: name}, owner: d.GetLabels()["kustomize.toolkit.fluxcd.io/name"]}
	values, _, _ := unstructured.NestedString(d.Object, "spec", "defaultValuesBlock")
	l.values = values
	if _, err := fmt.Sscanf(values, "note: %q #", &l.values); err != nil {
		l.values = values
	}
	l.versions = liveVersions(d)
	text := l.String()
	if _, labelled := d.GetLabels()[v1alpha1.BypassLabel]; labelled {
		text += " bypassed"
	}
	if d.GetAnnotations()[reconcileAnnotation] == "disabled" {
		text += " and marked"
	}
	if d.GetAnnotations()[pruneAnnotation] == "disabled" {
		text += " kept"
	}
	return text
}
