// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// pruneSettings are the settings in a row of the table in docs/guides/operate-safely.md.
type pruneSettings struct{ selection, kustomization, deletionPolicy string }

func (s pruneSettings) cells() []string {
	return []string{s.selection, s.kustomization, s.deletionPolicy}
}

// fates are the results, kept or deleted, of the events in a row of the table.
type fates struct{ left, kustomizationGone, selectionGone string }

// pruneTable is the documented or the measured table.
type pruneTable map[pruneSettings]fates

func (t pruneTable) String() string {
	var lines []string
	for s, f := range t {
		cells := append(s.cells(), f.left, f.kustomizationGone, f.selectionGone)
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// documentedPruneTable reads the table of the guide, which must have each of the settings once. A cell with several
// values, or with any, stands for a row each.
func documentedPruneTable(t *testing.T) pruneTable {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join(system.root, "docs", "guides", "operate-safely.md"))
	if err != nil {
		t.Fatal(err)
	}
	columns := []string{
		"CatalogSelection deletionPolicy", "Kustomization prune", "Kustomization deletionPolicy", "the application left the selection", "the Kustomization was deleted", "the selection was deleted",
	}
	table := pruneTable{}
	for _, row := range tableBelow(string(guide), columns) {
		if len(row) != len(columns) {
			t.Fatalf("a row has %d cells: %v", len(row), row)
		}
		for _, settings := range allPruneSettings() {
			if !slices.ContainsFunc([]int{0, 1, 2}, func(i int) bool { return !covers(row[i], settings.cells()[i]) }) {
				if _, twice := table[settings]; twice {
					t.Fatalf("the guide has two rows for %+v", settings)
				}
				table[settings] = fates{row[3], row[4], row[5]}
			}
		}
	}
	for _, settings := range allPruneSettings() {
		if _, ok := table[settings]; !ok {
			t.Fatalf("the guide has no row for %+v with the columns %v", settings, columns)
		}
	}
	return table
}

// covers reports whether a cell has a value, among others or as any.
func covers(cell, value string) bool {
	return cell == "any" || slices.Contains(strings.Split(cell, ", "), value)
}

// tableBelow returns the rows of the table with these columns.
func tableBelow(page string, columns []string) (rows [][]string) {
	found := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			found = false
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), "`", ""), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case slices.Equal(cells, columns):
			found = true
		case found && cells[0] != "---":
			rows = append(rows, cells)
		}
	}
	return rows
}

func allPruneSettings() (all []pruneSettings) {
	for _, selection := range []string{v1alpha1.DeletionPolicyOrphan, v1alpha1.DeletionPolicyDelete} {
		for _, kustomization := range []string{"false", "true"} {
			for _, policy := range []string{
				kustomizev1.DeletionPolicyMirrorPrune, kustomizev1.DeletionPolicyDelete,
				kustomizev1.DeletionPolicyWaitForTermination, kustomizev1.DeletionPolicyOrphan,
			} {
				all = append(all, pruneSettings{selection, kustomization, policy})
			}
		}
	}
	return all
}

// TestThePruneTableSaysWhatFluxDeletes runs the events of all rows in parallel: the controllers work
// on them at the same time.
func TestThePruneTableSaysWhatFluxDeletes(t *testing.T) {
	documented := documentedPruneTable(t)
	var rows []*pruneScenario
	for _, settings := range allPruneSettings() {
		rows = append(rows, newPruneScenario(t, strings.Join(settings.cells(), "-"), settings))
	}
	each := func(do func(*pruneScenario)) {
		for _, row := range rows {
			do(row)
		}
	}
	each(func(p *pruneScenario) { p.awaitReconciled("leaves", "stays") })

	each(func(p *pruneScenario) { p.update(p.selection, p.exclude) })
	each(func(p *pruneScenario) { p.awaitReconciled("stays") })
	each(func(p *pruneScenario) { p.fates.left = p.fate("leaves") })

	each(func(p *pruneScenario) { p.delete(p.kustomization()) })
	each(func(p *pruneScenario) { p.awaitGone(t.Context(), p.kustomization()) })
	each(func(p *pruneScenario) { p.fates.kustomizationGone = p.fate("stays") })

	each(func(p *pruneScenario) { p.create(p.kustomization()) })
	each(func(p *pruneScenario) { p.awaitReconciled("stays") })
	each(func(p *pruneScenario) { p.delete(p.selection) })
	each((*pruneScenario).awaitArtifactMissed)
	each(func(p *pruneScenario) { p.fates.selectionGone = p.fate("stays") })

	measured := pruneTable{}
	each(func(p *pruneScenario) { measured[p.settings] = p.fates })
	if got, want := measured.String(), documented.String(); got != want {
		t.Errorf("the guide says\n%s\nbut what happens is\n%s", want, got)
	}

	each(func(p *pruneScenario) { p.delete(p.kustomization()) })
	each(func(p *pruneScenario) { p.awaitGone(t.Context(), p.kustomization()) })
	each(func(p *pruneScenario) {
		if got := p.fate("stays"); got != p.fates.kustomizationGone {
			t.Errorf("%s: without the CatalogSelection, deleting the Kustomization means %s", p.name, got)
		}
	})
}

// The annotation of the live object protects a definition: an edit of deletionPolicy to Delete has no effect before it is applied.
// With Orphan, Winnow marks what leaves by the same edit.
func TestThePruneTableHoldsOnceASwitchIsApplied(t *testing.T) {
	const orphan, erase = v1alpha1.DeletionPolicyOrphan, v1alpha1.DeletionPolicyDelete
	for _, c := range []struct {
		says, name   string
		from, to     string
		applied      bool // before the application leaves; otherwise both are one edit
		left, stayed string
	}{
		{"Orphan and applied keeps", "switched-off", erase, orphan, true, "kept", "kept"},
		{"Orphan by the edit that makes it leave keeps", "switched-off-late", erase, orphan, false, "kept", "kept"},
		{"Delete and applied deletes", "switched-on", orphan, erase, true, "deleted", "deleted"},
		{"Delete by the edit that makes it leave keeps", "switched-on-late", orphan, erase, false, "kept", "deleted"},
	} {
		t.Run(c.says, func(t *testing.T) {
			p := newPruneScenario(t, c.name, pruneSettings{c.from, "true", kustomizev1.DeletionPolicyMirrorPrune})
			p.awaitReconciled("leaves", "stays")
			p.update(p.selection, func() {
				p.selection.Spec.DeletionPolicy = c.to
				if !c.applied {
					p.exclude()
				}
			})
			if c.applied {
				p.awaitReconciled("leaves", "stays")
				p.update(p.selection, p.exclude)
			}
			p.awaitReconciled("stays")
			if got := p.fate("leaves"); got != c.left {
				t.Errorf("what left is %s, want %s", got, c.left)
			}
			p.remove(p.kustomization())
			if got := p.fate("stays"); got != c.stayed {
				t.Errorf("after the Kustomization, what stayed is %s, want %s", got, c.stayed)
			}
		})
	}
}

// pruneScenario is a scenario with the two applications NAME-leaves and NAME-stays.
type pruneScenario struct {
	*scenario
	settings pruneSettings
	fates    fates
	applier  *kustomizev1.Kustomization
}

func newPruneScenario(t *testing.T, name string, settings pruneSettings) *pruneScenario {
	t.Helper()
	p := &pruneScenario{settings: settings}
	name = "prune-" + strings.ToLower(name)
	// Registered first, it runs last, when nothing applies the definitions any more.
	t.Cleanup(func() { p.removeDefinitions() })
	p.scenario = newScenario(t, name, []app{
		{name: name + "-leaves", tier: "gold", versions: []string{"1.0.0"}},
		{name: name + "-stays", tier: "gold", versions: []string{"1.0.0"}},
	}, func(cs *v1alpha1.CatalogSelection, ks *kustomizev1.Kustomization) {
		cs.Spec.DeletionPolicy = settings.selection
		ks.Spec.Prune = settings.kustomization == "true"
		ks.Spec.DeletionPolicy = settings.deletionPolicy
		p.applier = ks.DeepCopy()
	})
	return p
}

// kustomization returns the Kustomization as it was created first.
func (p *pruneScenario) kustomization() *kustomizev1.Kustomization { return p.applier.DeepCopy() }

func (p *pruneScenario) exclude() {
	p.selection.Spec.Exclude = []string{p.name + "-leaves"}
}

func (p *pruneScenario) delete(object client.Object) {
	p.t.Helper()
	if err := system.Client().Delete(p.t.Context(), object); err != nil {
		p.t.Fatalf("%s: deleting %T: %v", p.name, object, err)
	}
}

// awaitReconciled waits until the selection has published exactly these applications, and the
// Kustomization is Ready with them: it prunes before that.
func (p *pruneScenario) awaitReconciled(apps ...string) {
	p.t.Helper()
	p.await(fmt.Sprintf("%s reconciled with %v", p.name, apps), func(ctx context.Context) error {
		cs, ea, ks, err := p.live(ctx)
		if err != nil {
			return err
		}
		var selected []string
		for _, a := range cs.Status.Applications {
			selected = append(selected, strings.TrimPrefix(a.Name, p.name+"-"))
		}
		switch {
		case cs.Status.ObservedGeneration != cs.Generation || !conditions.IsReady(cs):
			return fmt.Errorf("selection not ready: %+v", cs.Status.Conditions)
		case !slices.Equal(selected, apps):
			return fmt.Errorf("selected %v", selected)
		case ea.Status.Artifact == nil || ea.Status.Artifact.Revision != cs.Status.Artifact.Revision:
			return fmt.Errorf("the ExternalArtifact has %v, the selection %v", ea.Status.Artifact, cs.Status.Artifact)
		case ks.Status.LastAppliedRevision != ea.Status.Artifact.Revision || !conditions.IsReady(ks):
			return fmt.Errorf("%s is not applied: %+v", ea.Status.Artifact.Revision, ks.Status)
		}
		return nil
	})
	for _, name := range apps {
		if got := p.fate(name); got != "kept" {
			p.t.Fatalf("%s: %s is %s although it is applied", p.name, name, got)
		}
	}
}

// awaitArtifactMissed waits until selection and ExternalArtifact are gone, and the Kustomization
// has been reconciled without them.
func (p *pruneScenario) awaitArtifactMissed() {
	p.t.Helper()
	p.awaitGone(p.t.Context(), p.selection)
	p.awaitGone(p.t.Context(), &sourcev1.ExternalArtifact{ObjectMeta: p.kustomization().ObjectMeta})
	ks := p.kustomization()
	p.update(ks, func() { ks.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "artifact gone"} })
	p.await(p.name+" without its artifact", func(ctx context.Context) error {
		if err := system.Client().Get(ctx, keyOf(ks), ks); err != nil {
			return err
		}
		if ks.Status.LastHandledReconcileAt != "artifact gone" ||
			conditions.GetReason(ks, meta.ReadyCondition) != meta.ArtifactFailedReason {
			return fmt.Errorf("not reconciled without it: %+v", ks.Status)
		}
		return nil
	})
}

// fate returns whether the application is kept or deleted.
func (p *pruneScenario) fate(app string) string {
	p.t.Helper()
	found, err := p.definitions(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	if _, ok := found[p.name+"-"+app]; ok {
		return "kept"
	}
	return "deleted"
}

func (p *pruneScenario) removeDefinitions() {
	if p.scenario == nil {
		return
	}
	found, err := p.definitions(context.WithoutCancel(p.t.Context()))
	if err != nil {
		p.t.Error(err)
	}
	for _, definition := range found {
		p.remove(&definition)
	}
}
