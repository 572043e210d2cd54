// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/test/stack"
)

const (
	chaosName = "chaos"
	// chaosSelections is the number of selections; each has a Kustomization.
	chaosSelections = 20
	// convergence bounds how long the system takes after the last fault.
	convergence = 4 * time.Minute
	// storageRetention is short, so that the archives of a run are collected in it.
	storageRetention = 5 * time.Second
)

// chaos is a system with selections of a catalog that is released again and again, while processes are killed, downloads
// are spoilt, the disk is full, and other clients write the same objects.
type chaos struct {
	*estate
	seed                       int64
	selections                 []string
	registry, source, archives *gate
	disk                       *smallDisk // nil where this process may not mount one
	author                     author
	reader                     *reader
	end                        time.Time       // of the faults
	lost                       map[string]bool // objects that Flux has applied and does not know
	kept                       map[string]bool // objects that Winnow has kept, because another selection may select them
	approved                   map[string]bool // selections whose edit was held

	mu    sync.Mutex
	tally map[string]int // what was done, by kind
}

// TestChaos injects faults for WINNOW_CHAOS_SECONDS, counted from its start. A reader verifies every artifact that is
// announced meanwhile, and that what should stay is live. After the faults, everything converges on the last release, and
// the controller needs no more than before. WINNOW_CHAOS_SEED repeats the order of faults, though not their moments.
func TestChaos(t *testing.T) {
	start := time.Now()
	seed := fromEnvironment(t, "WINNOW_CHAOS_SEED", time.Now().UnixNano()%1e9)
	seconds := fromEnvironment(t, "WINNOW_CHAOS_SECONDS", 60)
	fmt.Fprintf(os.Stderr, "chaos: to do the same again: WINNOW_CHAOS_SEED=%d WINNOW_CHAOS_SECONDS=%d make chaos\n", seed, seconds)
	c := newChaos(t, seed)
	c.end = start.Add(time.Duration(seconds) * time.Second)
	c.awaitConverged(convergence)
	before := c.usage(t.Context())

	reading, stopReading := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	readers.Go(func() { c.watchArtifacts(reading) })
	readers.Go(func() { c.read(reading) })
	defer readers.Wait()
	defer stopReading()

	faults, cancel := context.WithDeadline(t.Context(), c.end)
	defer cancel()
	began := time.Now()
	var lanes sync.WaitGroup
	for _, lane := range []func(context.Context){c.write, c.kill, c.disturb} {
		lanes.Go(func() { lane(faults) })
	}
	lanes.Wait()
	lasted := time.Since(began)

	c.recover()
	c.releaseNext(t.Context())
	took := c.awaitConverged(convergence)
	stopReading()
	readers.Wait()
	after := c.assertNothingLeaks(before)
	if err := system.Err(); err != nil {
		t.Errorf("a process ended by itself: %v", err)
	}
	c.print(lasted, took, before, after)
}

func newChaos(t *testing.T, seed int64) *chaos {
	t.Helper()
	useOwnSystem(t)
	c := &chaos{
		estate: &estate{&scenario{t: t, name: chaosName}}, seed: seed, tally: map[string]int{}, lost: map[string]bool{}, kept: map[string]bool{}, approved: map[string]bool{}, reader: newReader(),
		author: author{optional: map[string]bool{}},
	}
	for i := range chaosSelections {
		c.selections = append(c.selections, fmt.Sprintf("%s-%02d", chaosName, i))
	}
	c.registry = newGate(t, "registry", system.RegistryHost)
	c.source = newGate(t, stack.SourceController, system.SourceHost)
	c.archives = newGate(t, "Winnow", func() string { return system.controller.StorageAddr })
	c.startController()
	c.create(namespace(chaosName))
	c.releaseFirst()
	return c
}

// startController starts the controller behind the gates, if possible with its storage on a small disk.
func (c *chaos) startController() {
	c.t.Helper()
	options := stack.ControllerOptions{
		Args: []string{
			"--settle-delay=500ms", "--storage-adv-addr=" + c.archives.host(),
			"--artifact-retention-ttl=" + storageRetention.String(),
		},
		Env: []string{"SOURCE_CONTROLLER_LOCALHOST=" + c.source.host()},
	}
	c.disk = newSmallDisk(c.t, &options)
	if err := system.restart(c.t.Context(), options); err != nil {
		c.t.Fatal(err)
	}
}

// releaseFirst creates the OCIRepository, the selections and their Kustomizations.
func (c *chaos) releaseFirst() {
	c.t.Helper()
	c.pushRelease(c.t.Context())
	repository := c.repository()
	repository.Spec.URL = fmt.Sprintf("oci://%s/%s", c.registry.host(), chaosName)
	c.create(repository)
	var manifests []string
	for _, name := range c.selections {
		manifests = append(manifests, c.selecting(name, limitedTo(namesOf(name, append(slices.Clone(keptLetters), optionalLetter))...), "exclude: ["+name+"-"+optionalLetter+"]"), c.applying(name, name))
	}
	c.commit(manifests)
}

// draws returns the random numbers of one lane, which do not depend on how fast the others are.
func (c *chaos) draws(lane string) *rand.Rand {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(lane))
	return rand.New(rand.NewPCG(uint64(c.seed), sum.Sum64()))
}

// count notes that something was done.
func (c *chaos) count(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally[kind]++
}
