// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/fleetmodel"
	"github.com/winnow-dev/winnow/test/stack"
)

// modelled is a spoke with the real Flux beside the one of the model of a fleet.
type modelled struct {
	*scenario
	rand       *rand.Rand
	repository *sourcev1.OCIRepository
	applied    *kustomizev1.Kustomization
	model      *fleetmodel.Cluster
	// tag is the artifact of the OCIRepository, and objects are those in it.
	tag     string
	objects map[string]map[string]any
	// kept and deleted count the definitions that left the artifact.
	kept, deleted int
}

// TestTheModelOfFluxIsFlux walks at random, and compares the live objects after each step. The test of the model itself is in
// test/fleetmodel.
func TestTheModelOfFluxIsFlux(t *testing.T) {
	seed := fromEnvironment(t, "WINNOW_FLEET_SEED", 3)
	m := newModelled(t, uint64(seed))
	for n := range 24 {
		did := m.step()
		t.Logf("%d: %s", n+1, did)
		if t.Failed() {
			t.Fatalf("seed %d, step %d: %s", seed, n+1, did)
		}
	}
	if m.kept == 0 || m.deleted == 0 {
		t.Errorf("the walk shows too little: of what left the artifact, %d were kept and %d deleted", m.kept, m.deleted)
	}
}

func newModelled(t *testing.T, seed uint64) *modelled {
	m := &modelled{scenario: &scenario{t: t, name: "fleetmodel"}, rand: rand.New(rand.NewPCG(seed, 0)), model: fleetmodel.NewCluster()}
	m.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.name}})
	m.release()
	m.repository = m.scenario.repository()
	m.repository.Spec.LayerSelector, m.repository.Spec.Reference = nil, &sourcev1.OCIRepositoryRef{Tag: m.tag}
	m.applied = &kustomizev1.Kustomization{ObjectMeta: m.metaOf(m.name), Spec: kustomizev1.KustomizationSpec{
		Interval: metav1.Duration{Duration: time.Hour}, RetryInterval: &metav1.Duration{Duration: time.Hour}, Prune: true,
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: m.name},
	}}
	m.create(m.repository)
	m.create(m.applied)
	t.Cleanup(func() {
		m.remove(m.applied, m.repository)
		for name := range m.live() {
			m.remove(definitionOf(name))
		}
	})
	m.awaitApplied()
	m.compare()
	return m
}

// release renders a drawn catalog, and pushes the result under the next tag.
func (m *modelled) release() {
	m.t.Helper()
	dir := m.t.TempDir()
	for _, letter := range []string{"a", "b", "c", "d"} {
		if letter != "a" && m.rand.IntN(3) == 0 {
			continue
		}
		a := app{name: m.name + "-" + letter, tier: "gold", versions: []string{"1.0.0"}, values: fmt.Sprint(m.rand.IntN(3)), switches: m.rand.IntN(4) == 0}
		for _, version := range []string{"1.1.0", "2.0.0"} {
			if m.rand.IntN(2) == 0 {
				a.versions = append(a.versions, version)
			}
		}
		writeApp(m.t, filepath.Join(dir, "catalog/applications", a.name), a)
	}
	policy := []string{"Delete", "Orphan"}[m.rand.IntN(2)]
	selection, rendered := filepath.Join(dir, "selection.yaml"), filepath.Join(dir, "rendered")
	write(m.t, selection, "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: fleetmodel, namespace: fleet}\n"+
		"spec: {sources: [{name: catalog}], deletionPolicy: "+policy+"}\n")
	winnow(m.t, "render", "-f", selection, "--source", filepath.Join(dir, "catalog"), "-o", rendered)
	m.tag = fmt.Sprintf("t%d", m.rand.Uint32())
	if _, err := system.PushCatalog(m.t.Context(), rendered, m.name+":"+m.tag, stack.PushOptions{Shape: stack.FluxArtifact}); err != nil {
		m.t.Fatal(err)
	}
	var err error
	if m.objects, err = fleetmodel.Objects(os.DirFS(rendered), client.ObjectKey{Namespace: m.name, Name: m.name}); err != nil {
		m.t.Fatal(err)
	}
}

// step does the same to both, and compares them.
func (m *modelled) step() (did string) {
	defer m.compare()
	switch m.rand.IntN(8) {
	case 0, 1, 2, 3:
		m.release()
		m.pointTo(m.tag)
		m.awaitApplied()
		return fmt.Sprintf("apply %v", slices.Sorted(maps.Keys(m.objects)))
	case 4:
		return m.lag()
	case 5:
		return m.lose()
	}
	return m.edit()
}

// lag moves the source while kustomize-controller is stopped, twice: one artifact is skipped.
func (m *modelled) lag() string {
	m.suspend(true)
	for range 2 {
		m.release()
		m.pointTo(m.tag)
		m.awaitPulled()
	}
	m.compare()
	m.suspend(false)
	m.awaitApplied()
	return "lag behind two artifacts"
}

// lose points the source to an artifact that is gone, and back. Nothing changes.
func (m *modelled) lose() string {
	m.pointTo("gone")
	m.await("the source fails", func(ctx context.Context) error {
		err := system.Client().Get(ctx, client.ObjectKeyFromObject(m.repository), m.repository)
		ready := conditions.Get(m.repository, meta.ReadyCondition)
		if err == nil && (ready == nil || ready.Status != metav1.ConditionFalse || ready.ObservedGeneration != m.repository.Generation) {
			err = fmt.Errorf("conditions are %+v", m.repository.Status.Conditions)
		}
		return err
	})
	m.compare()
	m.pointTo(m.tag)
	m.awaitPulled()
	return "lose an artifact"
}

// edit edits a definition as an admin, and lets Flux apply the same artifact again, or not yet.
func (m *modelled) edit() string {
	name := slices.Sorted(maps.Keys(m.model.Live()))[m.rand.IntN(len(m.model.Live()))]
	const prune, reconcile = "kustomize.toolkit.fluxcd.io/prune", "kustomize.toolkit.fluxcd.io/reconcile"
	edits := []struct {
		path  string
		value any
		patch string
	}{
		{"spec.description", "Of an admin.", `{"spec":{"description":"Of an admin."}}`},
		{"spec.displayName", "By an admin", `{"spec":{"displayName":"By an admin"}}`},
		{"spec.displayName", nil, `{"spec":{"displayName":null}}`},
		{"metadata.annotations.example.com/note", "of an admin", `{"metadata":{"annotations":{"example.com/note":"of an admin"}}}`},
		{"metadata.annotations." + reconcile, "Disabled", `{"metadata":{"annotations":{"` + reconcile + `":"Disabled"}}}`},
		{"metadata.annotations." + reconcile, nil, `{"metadata":{"annotations":{"` + reconcile + `":null}}}`},
		{"metadata.annotations." + reconcile, nil, `{"metadata":{"annotations":{"` + reconcile + `":null}}}`},
		{"metadata.annotations." + prune, nil, `{"metadata":{"annotations":{"` + prune + `":null}}}`},
	}
	e := edits[m.rand.IntN(len(edits))]
	if err := system.Client().Patch(m.t.Context(), definitionOf(name), client.RawPatch("application/merge-patch+json", []byte(e.patch)), client.FieldOwner("admin")); err != nil {
		m.t.Fatal(err)
	}
	m.model.Edit(name, "admin", e.path, e.value)
	did := fmt.Sprintf("edit %s: %s", name, e.patch)
	if m.rand.IntN(2) == 0 {
		m.compare()
		m.reapply()
		did += ", and apply again"
	}
	return did
}

func (m *modelled) pointTo(tag string) {
	m.update(m.repository, func() { m.repository.Spec.Reference = &sourcev1.OCIRepositoryRef{Tag: tag} })
}

func (m *modelled) suspend(suspended bool) {
	m.update(m.applied, func() { m.applied.Spec.Suspend = suspended })
}

func (m *modelled) awaitPulled() {
	m.t.Helper()
	m.await("pulled "+m.tag, func(ctx context.Context) error {
		err := system.Client().Get(ctx, client.ObjectKeyFromObject(m.repository), m.repository)
		if err == nil && (!conditions.IsReady(m.repository) || m.repository.Status.ObservedGeneration != m.repository.Generation || !strings.HasPrefix(m.repository.Status.Artifact.Revision, m.tag+"@")) {
			err = fmt.Errorf("conditions are %+v", m.repository.Status.Conditions)
		}
		return err
	})
}

// awaitApplied waits until Flux has applied the artifact, and applies it to the model.
func (m *modelled) awaitApplied() {
	m.t.Helper()
	m.await("applied "+m.tag, func(ctx context.Context) error {
		err := system.Client().Get(ctx, client.ObjectKeyFromObject(m.applied), m.applied)
		if err == nil && (!strings.HasPrefix(m.applied.Status.LastAppliedRevision, m.tag+"@") || !conditions.IsReady(m.applied)) {
			err = fmt.Errorf("applied is %s: %+v", m.applied.Status.LastAppliedRevision, m.applied.Status.Conditions)
		}
		return err
	})
	former := m.model.Inventory()
	m.model.Apply(m.objects)
	for _, name := range former {
		switch _, stays := m.objects[name]; {
		case stays:
		case m.model.Live()[name] != nil:
			m.kept++
		default:
			m.deleted++
		}
	}
}

// reapply requests a reconciliation of the Kustomization, and waits for its end.
func (m *modelled) reapply() {
	m.t.Helper()
	request := time.Now().String()
	m.update(m.applied, func() { m.applied.Annotations = map[string]string{meta.ReconcileRequestAnnotation: request} })
	m.await("reconciled", func(ctx context.Context) error {
		err := system.Client().Get(ctx, client.ObjectKeyFromObject(m.applied), m.applied)
		if err == nil && (m.applied.Status.LastHandledReconcileAt != request || !conditions.IsReady(m.applied)) {
			err = errors.New("not yet")
		}
		return err
	})
	m.model.Apply(m.objects)
}

// live returns the fields of the live definitions, without those that the API server sets.
func (m *modelled) live() map[string]map[string]any {
	m.t.Helper()
	definitions, err := m.definitions(context.WithoutCancel(m.t.Context()))
	if err != nil {
		m.t.Fatal(err)
	}
	live := map[string]map[string]any{}
	for name, d := range definitions {
		for _, field := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"} {
			delete(d.Object["metadata"].(map[string]any), field)
		}
		live[name] = fleetmodel.Flatten(d.Object)
	}
	return live
}

// compare compares the live definitions, and the inventory, with those of the model.
func (m *modelled) compare() {
	m.t.Helper()
	want, got := m.model.Live(), m.live()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		for path, value := range want[name] {
			if got[name] != nil && !reflect.DeepEqual(got[name][path], value) {
				m.t.Errorf("%s: %s is %v, and in the model %v", name, path, got[name][path], value)
			}
		}
		for path, value := range got[name] {
			if _, known := want[name][path]; !known {
				m.t.Errorf("%s: %s is %v, and the model has nothing", name, path, value)
			}
		}
	}
	if got, want := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
		m.t.Errorf("there are %v, and in the model %v", got, want)
	}
	var inventory []string
	if m.applied.Status.Inventory != nil {
		for _, entry := range m.applied.Status.Inventory.Entries {
			inventory = append(inventory, strings.Split(entry.ID, "_")[1])
		}
	}
	slices.Sort(inventory)
	if !slices.Equal(inventory, m.model.Inventory()) {
		m.t.Errorf("the inventory has %v, and in the model %v", inventory, m.model.Inventory())
	}
}
