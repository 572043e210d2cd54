// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// backup is the status of a selection at an earlier step, with the part of the model.
type backup struct {
	uid    types.UID
	step   int
	status json.RawMessage
	part   *modelPart
}

// backupEvery is the number of steps between backups, of which some are kept.
const (
	backupEvery = 2
	maxBackups  = 40
)

// save saves the status of one part.
func (k *soak) save(n int) {
	k.t.Helper()
	p := k.model.parts[n/backupEvery%len(k.model.parts)]
	if n%backupEvery != 0 || p.suspended || p.baseline != baselineRecord || p.newer {
		return
	}
	cs := k.selectionOf(p.name)
	if err := system.Client().Get(k.t.Context(), keyOf(cs), cs); err != nil {
		k.t.Fatal(err)
	}
	status, err := json.Marshal(cs.Status)
	if err != nil {
		k.t.Fatal(err)
	}
	k.backups = append(k.backups, backup{cs.UID, n, status, p.clone()})
	k.backups = k.backups[max(0, len(k.backups)-maxBackups):]
}

// restoreStatus puts an older status of a selection back, as a restore from a backup does, and requests a
// reconciliation.
func (k *soak) restoreStatus() string {
	type choice struct {
		*modelPart
		backup
	}
	var choices, older []choice
	for _, p := range k.model.parts {
		cs := k.selectionOf(p.name)
		if err := system.Client().Get(k.t.Context(), keyOf(cs), cs); err != nil {
			k.t.Fatal(err)
		}
		for _, b := range k.backups {
			if b.uid == cs.UID && !p.suspended && p.baseline != baselineLost && p.baseline != baselineNone {
				choices = append(choices, choice{p, b})
				if b.part.artifact() != p.artifact() {
					older = append(older, choice{p, b})
				}
			}
		}
	}
	if len(older) > 0 && k.rand.IntN(4) > 0 { // another publication than the one that is served
		choices = older
	}
	if len(choices) == 0 {
		return k.release()
	}
	chosen := pick(k, choices)
	p, b := chosen.modelPart, chosen.backup
	k.setStatus(p, b.status)
	k.model.restore(p, b.part)
	k.requests++
	k.of(p.name).nudge(fmt.Sprint("restored ", k.requests))
	return fmt.Sprintf("restore the status of %s from step %d", p.name, b.step)
}

// setStatus replaces the whole status, whatever the controller writes meanwhile.
func (k *soak) setStatus(p *modelPart, status json.RawMessage) {
	k.t.Helper()
	patch := fmt.Appendf(nil, `[{"op": "replace", "path": "/status", "value": %s}]`, status)
	if err := system.Client().Status().Patch(k.t.Context(), k.selectionOf(p.name), client.RawPatch(types.JSONPatchType, patch)); err != nil {
		k.t.Fatalf("seed %d: restoring the %s status of %s: %v", k.seed, v1alpha1.CatalogSelectionKind, p.name, err)
	}
}
