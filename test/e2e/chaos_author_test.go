// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// The applications of each selection: the kept ones stay in every spec, the optional one comes and goes.
var (
	keptLetters    = []string{"a", "b", "c"}
	optionalLetter = "d"
)

// author releases catalogs and edits specs as Git would, whatever fails meanwhile.
type author struct {
	release  int             // the last one; each application has it in its values
	optional map[string]bool // whether the spec of a selection has the optional application
}

// selected returns the applications in the current spec of a selection.
func (a *author) selected(name string) []string {
	letters := keptLetters
	if a.optional[name] {
		letters = append(slices.Clone(letters), optionalLetter)
	}
	return namesOf(name, letters)
}

func namesOf(selection string, letters []string) []string {
	var names []string
	for _, letter := range letters {
		names = append(names, selection+"-"+letter)
	}
	return names
}

// write releases catalogs and edits specs until the faults end.
func (c *chaos) write(ctx context.Context) {
	draw := c.draws("author")
	for ctx.Err() == nil {
		if draw.IntN(3) == 0 {
			name := c.selections[draw.IntN(len(c.selections))]
			c.author.optional[name] = !c.author.optional[name]
			c.count("edit of a spec")
			c.insist(ctx, func(ctx context.Context) error { return c.patchSpec(ctx, name) })
		} else {
			c.count("release of the catalog")
			c.releaseNext(ctx)
		}
		pause(ctx, time.Duration(1500+draw.IntN(2000))*time.Millisecond)
	}
}

// insist tries until it works, or until ctx ends.
func (c *chaos) insist(ctx context.Context, do func(context.Context) error) {
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := do(bounded)
		cancel()
		if err == nil {
			return
		}
		pause(ctx, 200*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// releaseNext pushes the next catalog, and then changes the tag that the OCIRepository follows.
func (c *chaos) releaseNext(ctx context.Context) {
	c.pushRelease(ctx)
	c.insist(ctx, func(ctx context.Context) error {
		return c.patch(ctx, c.repository(), fmt.Sprintf(`{"spec": {"ref": {"tag": "v%d"}}}`, c.author.release))
	})
}

func (c *chaos) pushRelease(ctx context.Context) {
	c.author.release++
	dir, tag := filepath.Join(c.t.TempDir(), strconv.Itoa(c.author.release)), fmt.Sprintf("v%d", c.author.release)
	for _, name := range c.selections {
		for _, letter := range append(slices.Clone(keptLetters), optionalLetter) {
			a := app{name: name + "-" + letter, tier: "gold", versions: []string{"1.0.0"}, values: strconv.Itoa(c.author.release)}
			writeApp(c.t, filepath.Join(dir, "applications", a.name), a)
		}
	}
	c.insist(ctx, func(ctx context.Context) error {
		_, err := system.PushCatalog(ctx, dir, c.name+":"+tag, stack.PushOptions{})
		return err
	})
	if err := os.RemoveAll(dir); err != nil {
		c.t.Error(err)
	}
}

func (c *chaos) patchSpec(ctx context.Context, name string) error {
	excluded := namesOf(name, []string{optionalLetter})
	if c.author.optional[name] {
		excluded = nil
	}
	return c.patch(ctx, c.selectionOf(name), fmt.Sprintf(`{"spec": {"exclude": [%s]}}`, quoted(excluded)))
}

func (c *chaos) patch(ctx context.Context, object client.Object, merge string) error {
	return system.Client().Patch(ctx, object, mergePatch(merge))
}

func mergePatch(merge string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(merge))
}

// converged returns an error that names what is not at the last release, or not at its last spec.
func (c *chaos) converged(ctx context.Context) error {
	live, err := c.definitions(ctx)
	if err != nil {
		return err
	}
	var want []string
	for _, name := range c.selections {
		if err := c.settled(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		want = append(want, c.author.selected(name)...)
	}
	for _, name := range want {
		if _, there := live[name]; !there {
			return fmt.Errorf("%s is not live", name)
		}
	}
	for name, d := range live {
		if !slices.Contains(want, name) {
			if err := c.leftover(ctx, d); err != nil {
				return err
			}
			continue
		}
		if got := releaseOf(d); got != c.author.release {
			return fmt.Errorf("%s is of release %d, want %d", name, got, c.author.release)
		}
	}
	return nil
}

// leftover returns an error about a live object that no selection publishes, unless Flux has lost it, or Winnow has kept it.
// kustomize-controller writes the inventory after the whole apply. If the API server dies between, and the next artifact lacks
// the object, it is in no inventory, and nobody deletes it. Winnow keeps an object where another selection was not evaluated
// in time, and so may select it; the condition Kept says so.
func (c *chaos) leftover(ctx context.Context, d unstructured.Unstructured) error {
	owner := d.GetLabels()["kustomize.toolkit.fluxcd.io/name"]
	ks, cs := c.kustomizationOf(owner), c.selectionOf(owner)
	for _, o := range []client.Object{ks, cs} {
		if err := system.Client().Get(ctx, keyOf(o), o); err != nil {
			return err
		}
	}
	marked := d.GetAnnotations()[pruneAnnotation] != "" || d.GetAnnotations()[reconcileAnnotation] != ""
	forgotten := ks.Status.Inventory != nil && !slices.ContainsFunc(ks.Status.Inventory.Entries, func(entry kustomizev1.ResourceRef) bool {
		return strings.HasPrefix(entry.ID, "_"+d.GetName()+"_")
	})
	switch {
	case forgotten && !marked:
		c.lost[d.GetName()] = true
		return nil
	case forgotten && strings.Contains(conditions.GetMessage(cs, v1alpha1.KeptCondition), d.GetName()):
		c.kept[d.GetName()] = true
		return nil
	}
	return fmt.Errorf("%s of release %d is live, created %s, with the labels %v and the annotations %v; the inventory of %s is %+v, the conditions are %+v",
		d.GetName(), releaseOf(d), d.GetCreationTimestamp(), d.GetLabels(), d.GetAnnotations(), ks.Name, ks.Status.Inventory, cs.Status.Conditions)
}

// approve names the removal of the optional application of a selection. An edit that excludes it is held where another writer
// has deleted the ExternalArtifact, and the archive was lost as well: nothing tells then that the status is not an older one.
func (c *chaos) approve(ctx context.Context, cs *v1alpha1.CatalogSelection) error {
	for _, reason := range cs.Status.Held.Reasons {
		if reason.Reason != v1alpha1.RemovalReason || reason.Application != namesOf(cs.Name, []string{optionalLetter})[0] || c.author.optional[cs.Name] {
			return nil
		}
	}
	c.approved[cs.Name] = true
	return c.patch(ctx, cs, fmt.Sprintf(`{"spec": {"safeguards": {"approve": [%s]}}}`, quoted(cs.Status.Held.Approve)))
}

// settled returns an error if a selection has not published and applied the last release.
func (c *chaos) settled(ctx context.Context, name string) error {
	cs, ks, ea := c.selectionOf(name), c.kustomizationOf(name), &sourcev1.ExternalArtifact{ObjectMeta: c.metaOf(name)}
	if err := system.Client().Get(ctx, keyOf(cs), cs); err != nil {
		return err
	}
	if cs.Status.Held != nil { // perhaps without an ExternalArtifact
		return errors.Join(fmt.Errorf("the conditions are %+v", cs.Status.Conditions), c.approve(ctx, cs))
	}
	for _, o := range []client.Object{ks, ea} {
		if err := system.Client().Get(ctx, keyOf(o), o); err != nil {
			return err
		}
	}
	published, announced := cs.Status.Artifact, ea.Status.Artifact
	switch {
	case cs.Status.ObservedGeneration != cs.Generation || !conditions.IsReady(cs):
		return fmt.Errorf("the conditions are %+v", cs.Status.Conditions)
	case published == nil || announced == nil || published.Revision != announced.Revision || published.Digest != announced.Digest:
		return fmt.Errorf("published is %+v, announced %+v", published, announced)
	case numberOf(announced) != c.author.release:
		return fmt.Errorf("announced is release %d, want %d", numberOf(announced), c.author.release)
	case ks.Status.LastAppliedRevision != announced.Revision || !conditions.IsReady(ks):
		return fmt.Errorf("applied is %s: %+v", ks.Status.LastAppliedRevision, ks.Status.Conditions)
	}
	if got := c.download(ctx, c.direct(announced.URL)); got != announced.Digest {
		return fmt.Errorf("the archive is %s, want %s", got, announced.Digest)
	}
	return nil
}

var note = regexp.MustCompile(`note: "(\d+)"`)

// releaseOf returns the release of a definition; 0 if it has none.
func releaseOf(d unstructured.Unstructured) int {
	values, _, _ := unstructured.NestedString(d.Object, "spec", "defaultValuesBlock")
	match := note.FindStringSubmatch(values)
	if match == nil {
		return 0
	}
	number, _ := strconv.Atoi(match[1])
	return number
}

// awaitConverged waits until everything is at the last release, and returns how long that took. bound is generous: a
// controller that gives a registry up for a while must still come back within it.
func (c *chaos) awaitConverged(bound time.Duration) time.Duration {
	c.t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(c.t.Context(), bound)
	defer cancel()
	err := errors.New("not checked")
	for err != nil {
		if ctx.Err() != nil {
			c.t.Fatalf("not converged after %v: %v", bound, err)
		}
		if now := c.converged(ctx); now == nil || ctx.Err() == nil {
			err = now
		}
		if err != nil {
			pause(ctx, 200*time.Millisecond)
		}
	}
	return time.Since(start)
}
