//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// soak draws steps from a seed, and tells them to the real system and to the model.
type soak struct {
	*scenario
	seed      int64
	rand      *rand.Rand
	model     model
	revisions []catalogRevision // all that were pushed
	requests  int               // for the Kustomization to be reconciled
	// lost says that the controller was restarted with an empty data directory while a revision was
	// held: whether it can rebuild what is published depends on what Flux still has.
	lost bool
}

// restartEvery is the number of steps after which the controller starts anew, which takes seconds.
const restartEvery = 10

// TestSoak publishes revisions of a catalog in random order while people bypass definitions, edit
// the spec and approve, and compares the cluster with a model after each step. It repeats the run
// of WINNOW_SOAK_SEED, and makes WINNOW_SOAK_STEPS steps.
func TestSoak(t *testing.T) {
	seed := fromEnvironment(t, "WINNOW_SOAK_SEED", time.Now().UnixNano()%1e9)
	steps := fromEnvironment(t, "WINNOW_SOAK_STEPS", 30)
	// Not by t.Log, which go test hides while all is well.
	fmt.Fprintf(os.Stderr, "soak: to do the same again: WINNOW_SOAK_SEED=%d WINNOW_SOAK_STEPS=%d make soak\n", seed, steps)
	k := newSoak(t, seed)
	start := time.Now()
	for i := range steps {
		before := time.Now()
		did := k.step(int(i + 1))
		k.model.count()
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
	k := &soak{seed: seed, rand: rand.New(rand.NewPCG(uint64(seed), 0))}
	k.model = model{
		spec: modelSpec{tiers: []string{"gold", "silver"}}, live: map[string]*liveApp{}, tally: map[string]int{},
	}
	k.model.reviewed, k.model.catalog = k.model.spec.clone(), k.model.source.apps
	// Runs last: what was bypassed outlives the Kustomization.
	t.Cleanup(func() { k.deleteDefinitions() })
	var apps []app
	for _, letter := range "abcdef" {
		apps = append(apps, app{name: "soak-" + string(letter), tier: "gold", versions: []string{"1.0.0", "1.1.0"}, values: "0"})
	}
	k.scenario = newScenario(t, "soak", apps, func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.Limit = &v1alpha1.Limit{MetadataSelector: &v1alpha1.MetadataSelector{TierRefs: k.model.spec.tiers}}
	})
	k.model.source = k.pushRevision("v1", apps)
	k.model.reconsider()
	k.settle("the first publication")
	return k
}

// step does something, waits until it is done and returns what it was.
func (k *soak) step(n int) string {
	if n%restartEvery == 0 {
		return k.whileDown()
	}
	draw := k.rand.IntN(100)
	switch {
	case slices.Equal(k.model.held, []string{"EmptyResult"}) && draw < 50:
		return k.edit("tiers as at first", func(s *modelSpec) { s.tiers = []string{"gold", "silver"} })
	case len(k.model.held) > 0 && draw < 30:
		return k.edit("approve", func(s *modelSpec) { approve(s, k.model.source.digest) })
	case draw < 55:
		return k.release()
	case draw < 70:
		return k.flip()
	case draw < 80:
		return k.edit(k.drawEdit())
	case draw < 85:
		return k.edit("approve another", func(s *modelSpec) { approve(s, pick(k, k.revisions).digest) })
	case draw < 90 && !k.lost:
		return k.reapply()
	}
	return k.atOnce()
}

// release points Flux to another revision.
func (k *soak) release() string {
	revision, did := k.drawRevision()
	k.point(revision.tag)
	k.model.source = revision
	return k.reconsider(did)
}

// flip labels a live definition as bypassed, or takes the label away.
func (k *soak) flip() string {
	name, did := k.drawFlip()
	k.setBypass(name)
	return k.reconsider(did)
}

// edit changes the spec as Git would.
func (k *soak) edit(did string, mutate func(*modelSpec)) string {
	mutate(&k.model.spec)
	k.writeSpec(false)
	return k.reconsider(did)
}

// reapply has Flux apply once more what it has applied.
func (k *soak) reapply() string {
	k.requests++
	k.requestReconcile(strconv.Itoa(k.requests))
	k.model.apply()
	k.settle("reapply")
	return "reapply"
}

// atOnce shows the controller a new spec together with another revision.
func (k *soak) atOnce() string {
	revision, released := k.drawRevision()
	edited, mutate := k.drawEdit()
	k.writeSpec(true)
	k.awaitSuspended()
	k.point(revision.tag)
	k.awaitPulled(revision)
	k.model.source = revision
	mutate(&k.model.spec)
	k.writeSpec(false)
	return k.reconsider("at once: " + released + ", " + edited)
}

// whileDown stops the controller, lets things happen, and starts it with an empty data directory.
func (k *soak) whileDown() string {
	if err := system.controller.Stop(); err != nil {
		k.t.Fatal(err)
	}
	k.lost = len(k.model.held) > 0 || k.lost
	did := []string{"while down"}
	if k.rand.IntN(3) > 0 {
		name, flipped := k.drawFlip()
		k.setBypass(name)
		did = append(did, flipped)
	}
	revision, released := k.drawRevision()
	if orphans := k.model.orphans(); len(orphans) > 0 && len(k.model.held) == 0 {
		revision, released = k.bringBack(pick(k, orphans))
	} else if k.rand.IntN(3) == 0 {
		edited, mutate := k.drawEdit()
		mutate(&k.model.spec)
		did = append(did, edited)
	}
	k.point(revision.tag)
	k.awaitPulled(revision)
	k.model.source = revision
	k.writeSpec(false)
	did = append(did, released)
	if err := system.restart(k.t.Context(), stack.ControllerOptions{}); err != nil {
		k.t.Fatal(err)
	}
	return k.reconsider(strings.Join(did, ", "))
}

// bringBack ends the bypass of an orphan and selects it again, often with other versions.
func (k *soak) bringBack(name string) (catalogRevision, string) {
	k.model.live[name].bypassed = false
	k.setBypass(name)
	isIt := func(other string) bool { return other == name }
	k.model.spec.excluded = slices.DeleteFunc(slices.Clone(k.model.spec.excluded), isIt)
	apps := slices.DeleteFunc(slices.Clone(k.model.source.apps), func(a app) bool { return isIt(a.name) })
	versions := k.drawVersions([]string{"1.0.0", "1.1.0", "2.0.0"})
	apps = append(apps, app{name: name, tier: k.model.spec.tiers[0], versions: versions, values: k.drawValues()})
	tag := fmt.Sprintf("r%d", len(k.revisions))
	return k.pushRevision(tag, apps), fmt.Sprintf("bring %s back by %s with %v", name, tag, versions)
}

// reconsider has the model decide, and waits until the system agrees.
func (k *soak) reconsider(did string) string {
	k.model.reconsider()
	k.lost = k.lost && len(k.model.held) > 0
	k.settle(did)
	return did
}
