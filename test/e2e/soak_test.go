// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/test/stack"
)

// soak draws steps from a seed, and runs them on the real system and on the model.
type soak struct {
	*estate
	seed      int64
	rand      *rand.Rand
	model     *model
	revisions map[string][]catalogRevision // all that were pushed, by OCIRepository
	requests  int                          // number of requests to reconcile Kustomizations
	dataDir   string                       // of the controller
	tenant    *estate                      // whose registry hangs; nil until a step needs it
	backups   []backup                     // of statuses
}

const (
	soakName = "soak"
	// restartEvery is the number of steps between restarts of the controller, which take seconds.
	restartEvery = 15
)

// soakOptions sets a short settle delay: an edit that removes applications waits only until the two objects
// of a commit are applied.
func soakOptions(dataDir string) stack.ControllerOptions {
	return stack.ControllerOptions{Args: []string{"--settle-delay=500ms"}, DataDir: dataDir}
}

// TestSoak runs three selections over two catalogs with shared definitions. Its steps release catalogs,
// edit, move, swap, rename, bypass, suspend and approve selections, and restart the controller. Every seventh one is an
// attack: an older status, an odd path, reserved metadata, a hanging registry. It compares the cluster with a model after
// each step. WINNOW_SOAK_SEED repeats a run of
// WINNOW_SOAK_STEPS steps.
func TestSoak(t *testing.T) {
	seed := fromEnvironment(t, "WINNOW_SOAK_SEED", time.Now().UnixNano()%1e9)
	steps := fromEnvironment(t, "WINNOW_SOAK_STEPS", 30)
	// go test hides the output of t.Log while the test passes.
	fmt.Fprintf(os.Stderr, "soak: to do the same again: WINNOW_SOAK_SEED=%d WINNOW_SOAK_STEPS=%d make soak\n", seed, steps)
	k := newSoak(t, seed)
	start := time.Now()
	for i := range steps {
		before := time.Now()
		did := k.step(int(i + 1))
		k.model.count()
		k.save(int(i + 1))
		t.Logf("step %d: %s: %s, %v", i+1, did, k.verdict(), time.Since(before).Round(10*time.Millisecond))
	}
	fmt.Fprintf(os.Stderr, "soak: %d steps in %v: %v\n", steps, time.Since(start).Round(time.Second), k.model.tally)
}

func fromEnvironment(t *testing.T, name string, fallback int64) int64 {
	t.Helper()
	n, err := strconv.ParseInt(cmp.Or(os.Getenv(name), strconv.FormatInt(fallback, 10)), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func newSoak(t *testing.T, seed int64) *soak {
	t.Helper()
	restartWith(t, soakOptions(""))
	k := &soak{
		seed: seed, rand: rand.New(rand.NewPCG(uint64(seed), 0)), revisions: map[string][]catalogRevision{},
		dataDir: system.controller.DataDir,
		model: &model{
			catalogs: map[string]catalogRevision{}, live: map[string]*liveApp{}, tally: map[string]int{}, renders: map[string]string{},
		},
	}
	k.estate = &estate{&scenario{t: t, name: soakName}}
	k.create(namespace(soakName))
	t.Cleanup(k.clear)
	for _, catalog := range []string{"first", "second"} {
		apps := map[string]app{}
		for _, letter := range strings.Split("abcdefgh", "") {
			apps[letter] = app{name: letter, tier: "gold", versions: []string{"1.0.0", "1.1.0"}, values: "0"}
		}
		k.model.catalogs[catalog] = k.pushRevision(catalog, "v1", apps)
		k.create(k.repositoryOf(catalog))
	}
	for _, p := range []struct{ name, catalog, names string }{{"one", "first", "abc"}, {"two", "first", "def"}, {"three", "second", "gh"}} {
		k.model.parts = append(k.model.parts, &modelPart{
			name: p.name, applier: p.name, catalog: p.catalog,
			spec: modelSpec{tiers: []string{"gold", "silver"}, names: strings.Split(p.names, "")},
		})
	}
	k.write(k.model.parts...)
	k.reconsider("the first publication")
	return k
}

// step runs one step, waits until it is complete and returns its description.
func (k *soak) step(n int) string {
	if n%restartEvery == 0 {
		return k.whileDown()
	}
	if n%attackEvery == 0 {
		return k.reconsider(k.attack(n))
	}
	if did := k.recover(); did != "" {
		return k.reconsider(did)
	}
	steps := []struct {
		weight int
		do     func() string
	}{
		{20, k.release}, {10, k.flip}, {12, k.edit}, {14, k.moveOne}, {8, k.swap}, {8, k.contend}, {6, k.grow}, {6, k.approveAny},
		{14, k.atOnce}, {4, k.reapplyOne}, {6, k.rename}, {4, k.recreate}, {6, k.wipe},
		{4, k.suspend}, {4, k.pause},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	draw := k.rand.IntN(total)
	for _, s := range steps {
		if draw -= s.weight; draw < 0 {
			return k.reconsider(s.do())
		}
	}
	return ""
}

// reconsider updates the model, and waits until the system has the same state.
func (k *soak) reconsider(did string) string {
	k.t.Helper()
	k.settle(did)
	return did
}

// verdict returns the state of the model as text.
func (k *soak) verdict() string {
	var parts []string
	for _, p := range k.model.parts {
		switch {
		case p.suspended:
			parts = append(parts, p.name+" suspended")
		case len(p.held) > 0:
			parts = append(parts, p.name+" held by "+strings.Join(p.held, ", "))
		case p.conflict:
			parts = append(parts, p.name+" in conflict")
		default:
			parts = append(parts, fmt.Sprintf("%s %d", p.name, len(p.published)))
		}
	}
	return strings.Join(parts, "; ") + fmt.Sprintf("; %d live", len(k.model.live))
}
