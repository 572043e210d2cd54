// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/stack"
)

// forgedURL begins the URLs that a conflicting writer sets.
const forgedURL = "http://127.0.0.1:1/"

// victim is a process that is killed, and whether its storage is lost with it.
type victim struct {
	name  string
	wipes bool
}

func (v victim) String() string {
	name := v.name
	if name == system.controller.Name() { // which has the number of its start
		name = stack.WinnowController
	}
	if v.wipes {
		return "kill -9 of " + name + ", with its storage"
	}
	return "kill -9 of " + name
}

// victims are all that is killed, the controller first.
func (c *chaos) victims() []victim {
	controller := system.controller.Name()
	return []victim{
		{controller, false}, {controller, true}, {stack.SourceController, false}, {stack.SourceController, true},
		{stack.APIServer, false}, {stack.Etcd, false}, {stack.Registry, false},
	}
}

// kill kills processes at random, each as often as any other, and starts them again: the controller first, which it spares
// in the last third of the time, so that a leak has time to show.
func (c *chaos) kill(ctx context.Context) {
	draw := c.draws("kill")
	last := time.Now().Add(time.Until(c.end) * 2 / 3)
	for bag := c.victims()[:2]; ctx.Err() == nil; {
		if len(bag) == 0 {
			bag = c.victims()
		}
		var v victim
		if v, bag = take(draw, bag); v.name == system.controller.Name() && time.Now().After(last) {
			v = victim{name: stack.SourceController}
		}
		c.count(v.String())
		if err := system.Process(v.name).Kill(); err != nil {
			c.t.Error(err)
		}
		if v.wipes {
			c.wipe(v.name)
		}
		pause(ctx, time.Duration(draw.IntN(1500))*time.Millisecond)
		c.revive(context.WithoutCancel(ctx), v.name)
		pause(ctx, time.Duration(draw.IntN(1500))*time.Millisecond)
	}
}

// take removes a random element.
func take[T any](draw *rand.Rand, bag []T) (T, []T) {
	i := draw.IntN(len(bag))
	taken := bag[i]
	bag[i] = bag[len(bag)-1]
	return taken, bag[:len(bag)-1]
}

// revive starts a process until it is ready. It may end by itself when what it needs is gone.
func (c *chaos) revive(ctx context.Context, name string) {
	for {
		_, err := system.Revive(ctx, name)
		if err == nil {
			c.count("restart")
			return
		}
		if c.t.Context().Err() != nil {
			c.t.Error(err)
			return
		}
		c.t.Logf("starting %s once more: %v", name, err)
		_ = system.Process(name).Kill()
		pause(ctx, time.Second)
	}
}

// wipe removes the storage of a process that has ended, as with an emptyDir of a pod that moves.
func (c *chaos) wipe(name string) {
	dir := filepath.Join(system.Dir(), stack.SourceController, "data")
	if name == system.controller.Name() {
		dir = c.storage()
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		c.t.Error(err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			c.t.Error(err)
		}
	}
}

// storage is the directory of the archives.
func (c *chaos) storage() string {
	if c.disk != nil {
		return c.disk.archives
	}
	return system.controller.DataDir
}

// disturbance is a fault that lasts for a while.
type disturbance struct {
	name string
	do   func(context.Context, *rand.Rand) (end func())
}

// disturbances are all faults beside the death of processes.
func (c *chaos) disturbances() []disturbance {
	var all []disturbance
	for _, s := range spoilings() {
		all = append(all, disturbance{"download: " + s.name, func(ctx context.Context, draw *rand.Rand) func() {
			g := []*gate{c.registry, c.source, c.archives}[draw.IntN(3)]
			before := g.spoiled.Load()
			g.fault.Store(s)
			return func() {
				for range 60 { // it waits a while for the first download
					if g.spoiled.Load() > before || ctx.Err() != nil {
						break
					}
					pause(ctx, 100*time.Millisecond)
				}
				g.fault.Store(nil)
			}
		}})
	}
	all = append(all,
		disturbance{"clock: times of archives", c.stepArchives},
		disturbance{"clock: requests and publications in the future", c.stepObjects},
		disturbance{"another writer: status of a selection", c.forgeStatus},
		disturbance{"another writer: status of an ExternalArtifact", c.forgeArtifact},
		disturbance{"another writer: deletes an ExternalArtifact", c.deleteArtifact},
		disturbance{"another writer: metadata", c.forgeMetadata},
	)
	return append(all, c.fullDisk()...)
}

// fullDisk is the fault of a full disk, if there is a small one.
func (c *chaos) fullDisk() []disturbance {
	if c.disk == nil {
		return nil
	}
	return []disturbance{{"full disk", c.fillDisk}}
}

// disturb injects one fault after the other, the full disk first, each as often as any other.
func (c *chaos) disturb(ctx context.Context) {
	draw := c.draws("disturb")
	for bag := c.fullDisk(); ctx.Err() == nil; {
		if len(bag) == 0 {
			bag = c.disturbances()
		}
		var d disturbance
		d, bag = take(draw, bag)
		c.count(d.name)
		end := d.do(ctx, draw)
		pause(ctx, time.Duration(500+draw.IntN(1500))*time.Millisecond)
		if end != nil {
			end()
		}
	}
}

// recover ends all faults.
func (c *chaos) recover() {
	c.t.Helper()
	for _, g := range []*gate{c.registry, c.source, c.archives} {
		g.fault.Store(nil)
	}
	for _, v := range c.victims() {
		select {
		case <-system.Process(v.name).Exited():
			c.revive(c.t.Context(), v.name)
		default:
		}
	}
}

// stepArchives moves the times of all archives, as if the clock had been wrong when they were written.
func (c *chaos) stepArchives(_ context.Context, draw *rand.Rand) func() {
	step := time.Duration(1-2*draw.IntN(2)) * 365 * 24 * time.Hour
	files, _ := filepath.Glob(filepath.Join(c.storage(), "*/*/*/*.tar.gz"))
	for _, file := range files {
		_ = os.Chtimes(file, time.Now().Add(step), time.Now().Add(step)) // it may be gone
	}
	return nil
}

// some returns the name of a random selection.
func (c *chaos) some(draw *rand.Rand) string { return c.selections[draw.IntN(len(c.selections))] }

// stepObjects requests a reconciliation next year, and dates the publication of an artifact a year ahead.
func (c *chaos) stepObjects(ctx context.Context, draw *rand.Rand) func() {
	ahead := time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339)
	c.try(c.patch(ctx, c.selectionOf(c.some(draw)), fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, meta.ReconcileRequestAnnotation, ahead)))
	c.try(c.patchStatus(ctx, c.artifactOf(c.some(draw)), fmt.Sprintf(`{"status": {"artifact": {"lastUpdateTime": %q}}}`, ahead)))
	return nil
}

// forgeStatus writes conditions and numbers that are not true.
func (c *chaos) forgeStatus(ctx context.Context, draw *rand.Rand) func() {
	now := time.Now().UTC().Format(time.RFC3339)
	c.try(c.patchStatus(ctx, c.selectionOf(c.some(draw)), fmt.Sprintf(`{"status": {"observedGeneration": 1, "lastHandledReconcileAt": %q,
		"conditions": [{"type": "Ready", "status": "False", "reason": "Forged", "message": "", "lastTransitionTime": %[1]q}]}}`, now)))
	return nil
}

// forgeArtifact names an archive that does not exist.
func (c *chaos) forgeArtifact(ctx context.Context, draw *rand.Rand) func() {
	sum := fmt.Sprintf("sha256:%064d", draw.IntN(10))
	c.try(c.patchStatus(ctx, c.artifactOf(c.some(draw)), fmt.Sprintf(`{"status": {"artifact": {"url": "%sforged.tar.gz",
		"revision": "v0@%s", "digest": %[2]q}}}`, forgedURL, sum)))
	return nil
}

func (c *chaos) deleteArtifact(ctx context.Context, draw *rand.Rand) func() {
	c.try(system.Client().Delete(ctx, c.artifactOf(c.some(draw))))
	return nil
}

// forgeMetadata sets labels and annotations.
func (c *chaos) forgeMetadata(ctx context.Context, draw *rand.Rand) func() {
	forged := fmt.Sprintf(`{"metadata": {"labels": {"forged": "%d"}, "annotations": {"forged": "%[1]d"}}}`, draw.IntN(1000))
	c.try(c.patch(ctx, c.selectionOf(c.some(draw)), forged))
	c.try(c.patch(ctx, c.artifactOf(c.some(draw)), forged))
	return nil
}

// try counts a write that did not work, since the API server is down now and then.
func (c *chaos) try(err error) {
	if err != nil {
		c.count("write that did not work")
	}
}

func (c *chaos) artifactOf(name string) *sourcev1.ExternalArtifact {
	return &sourcev1.ExternalArtifact{ObjectMeta: c.metaOf(name)}
}

func (c *chaos) patchStatus(ctx context.Context, object client.Object, merge string) error {
	return system.Client().Status().Patch(ctx, object, mergePatch(merge))
}
