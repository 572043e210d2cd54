// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/test/sourcetest"
)

// errVerdict reports that the check says something else of a commit than the model.
var errVerdict = errors.New("another verdict")

// model is the fleet, with what the model knows of it.
type model struct {
	clone

	t     *testing.T
	rand  *rand.Rand
	store *store
	// hubs are those of the fleets datacenter and edge.
	hubs   []*hub
	spokes []*spoke
	// targets are the stages, and the clusters of production that may be pinned.
	targets []string

	// catalog is the revision behind the tag, and earlier ones may come back.
	catalog  release
	releases []content
	note     int
	// contents has what is in each artifact, and digests those of the datacenter in their order. objects caches builds.
	contents map[string]content
	digests  []string
	objects  map[string]map[string]map[string]any

	// main is what the main branch has of each target, and granted what may be lost there.
	main        map[string]reference
	granted     map[string]map[string]bool
	edgeGranted map[string]bool
	// moves counts the moves of each target. merges are the last commits of the main branch, and kept pull requests that wait.
	moves        map[string]int
	merges, kept []string

	// now passes an hour with each step.
	now   time.Time
	count map[string]int
	// said and shown are for failures: the notes of the last command, and the report of the last check.
	said, shown string
}

// newModel makes a fleet whose stages run the first release.
func newModel(t *testing.T, seed uint64) *model {
	t.Helper()
	m := &model{
		clone: newClone(t), t: t, rand: rand.New(rand.NewPCG(seed, 0)), store: newStore(t),
		hubs:     []*hub{{fleet: "datacenter"}, {fleet: "edge"}},
		targets:  []string{staging, canary, production},
		contents: map[string]content{}, objects: map[string]map[string]map[string]any{},
		granted: map[string]map[string]bool{}, moves: map[string]int{}, count: map[string]int{},
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for _, h := range m.hubs {
		h.selection = &v1alpha1.CatalogSelection{}
		h.seen, h.gone, h.used, h.naming = map[string]time.Time{}, map[string]time.Time{}, map[string]bool{}, map[string]bool{}
		m.write("hub/"+h.fleet+".yaml", selectionFile(m.store.host, h.fleet, nil, nil, "Delete"))
	}
	m.write("hub/catalog.yaml", fmt.Sprintf(hubCatalog, m.store.host))
	m.release(content{"a": {"1.0.0", "2.0.0"}, "b": {"1.0.0"}, "c": {"1.0.0"}, "d": {"1.0.0", "1.1.0"}})
	m.must(m.reconcileHubs())
	for n, of := range map[string]int{staging: 4, canary: 6, production: 16, edge: 10} {
		for i := range of {
			m.spokes = append(m.spokes, &spoke{Cluster: NewCluster(), name: fmt.Sprintf("%s-%d", n, i), target: n, guarded: n == edge && i%2 == 0})
		}
	}
	slices.SortFunc(m.spokes, func(a, b *spoke) int { return strings.Compare(a.name, b.name) })
	for i := range 4 {
		target := fmt.Sprintf("pinned/c%d", i)
		m.targets = append(m.targets, target)
		m.spokes = append(m.spokes, &spoke{Cluster: NewCluster(), name: target, target: target})
		m.write(target+"/kustomization.yaml", unpinned)
	}
	for _, target := range []string{staging, canary, production} {
		m.write(stageFile(target), fmt.Sprintf(fluxFiles, m.store.host, "datacenter", "digest: "+m.digests[0]))
		m.write(target+"/kustomization.yaml", "resources:\n- applications.yaml\n")
	}
	m.write(stageFile(edge), fmt.Sprintf(fluxFiles, m.store.host, "edge", "tag: latest"))
	m.commit("base")
	m.main = m.sources()
	return m
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// release pushes a revision of the catalog.
func (m *model) release(c content) {
	m.t.Helper()
	var files []string
	texts := c.files(m.note)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, name, texts[name])
	}
	packed := sourcetest.Archive(m.t, files...)
	digest, err := m.store.pushCatalog(m.t.Context(), packed)
	m.must(err)
	loaded, err := render.LoadArchive(m.t.Context(), "catalog", bytes.NewReader(packed), render.CatalogLocation{})
	m.must(err)
	m.catalog = release{c, digest, loaded}
	m.releases = last(append(m.releases, c), 12)
}

// reconcileHubs lets the hub render what Git and the catalog have, and push what is published.
func (m *model) reconcileHubs() error {
	for _, h := range m.hubs {
		published, err := h.reconcile(m.t.Context(), m.read("hub/"+h.fleet+".yaml"), m.catalog, m.now)
		if err != nil {
			return err
		}
		if published {
			m.count["publications of the hub"]++
		}
		if len(h.held) > 0 {
			m.count["renders that the hub holds"]++
		}
		if h.pending == nil || m.store.down {
			continue
		}
		before := m.contents[h.pushed]
		h.pushed, err = m.store.pushRendered(m.t.Context(), h.fleet, h.pending)
		m.must(err)
		m.contents[h.pushed] = h.pendingHas
		if h.pending = nil; h.fleet == "edge" {
			m.edgeGranted = grant(m.edgeGranted, before.lost(h.pendingHas), h.pendingHas)
			continue
		}
		m.digests = last(append(slices.DeleteFunc(m.digests, func(d string) bool { return d == h.pushed }), h.pushed), 30)
	}
	return nil
}

// settle ends all faults: each spoke then runs what Git has.
func (m *model) settle() error {
	clear(m.store.gone)
	for _, s := range m.spokes {
		s.isolated, s.stopped = false, false
		if err := m.fetch(m.t.Context(), s); err != nil {
			return err
		}
		if err := m.apply(s); err != nil {
			return err
		}
		if at := m.main[s.target]; s.target != edge && !at.suspended && s.applied != at.digest {
			return fmt.Errorf("%s runs %s, and Git has %s", s.name, s.applied, at.digest)
		}
	}
	return nil
}

// last returns the last elements of a list.
func last[T any](all []T, most int) []T { return all[max(0, len(all)-most):] }

// pick draws an element.
func pick[T any](m *model, all []T) T { return all[m.rand.IntN(len(all))] }

// chance reports true in so many percent of the cases.
func (m *model) chance(percent int) bool { return m.rand.IntN(100) < percent }

func fromEnvironment(t *testing.T, name string, fallback int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

// TestFleet draws steps: WINNOW_FLEET_STEPS of them, which WINNOW_FLEET_SEED repeats.
func TestFleet(t *testing.T) {
	seed, steps := fromEnvironment(t, "WINNOW_FLEET_SEED", 6), fromEnvironment(t, "WINNOW_FLEET_STEPS", 32)
	m := newModel(t, uint64(seed))
	start := time.Now()
	for n := range steps {
		m.now = m.now.Add(time.Hour)
		did, err := m.step()
		if err != nil {
			t.Fatalf("seed %d, step %d: %s: %v\n%s\n%s", seed, n+1, did, err, m.shown, m.said)
		}
		if (n+1)%1000 == 0 {
			m.tidy()
			t.Logf("%d steps after %s", n+1, time.Since(start).Round(time.Second))
		}
	}
	m.must(m.settle())
	var table strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.count)) {
		fmt.Fprintf(&table, "\n| %s | %d |", name, m.count[name])
	}
	t.Logf("%d steps of seed %d in %s%s", steps, seed, time.Since(start).Round(100*time.Millisecond), &table)
}
