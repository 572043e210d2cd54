// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// move is a commit that moves applications between selections.
type move struct {
	says          string
	before, after []part
	// gone are the selections that the commit deletes.
	gone []string
}

func moves(name string) []move {
	a, b, c := name+"-a", name+"-b", name+"-c"
	return []move{
		{
			says:   "of an application from one selection to another",
			before: []part{{"one", "one", []string{a, b}}, {"two", "two", []string{c}}},
			after:  []part{{"one", "one", []string{a}}, {"two", "two", []string{b, c}}},
		},
		{
			says:   "of the last application of a selection's tier to one that comes first in the commit",
			before: []part{{"alpha", "alpha", []string{a}}, {"beta", "beta", []string{b, c}}},
			after:  []part{{"alpha", "alpha", []string{a, b}}, {"beta", "beta", []string{c}}},
		},
		{
			says:   "that swaps applications between two selections",
			before: []part{{"one", "one", []string{a, c}}, {"two", "two", []string{b}}},
			after:  []part{{"one", "one", []string{b, c}}, {"two", "two", []string{a}}},
		},
		{
			says:   "that renames a selection and points its Kustomization to the new one",
			before: []part{{"old", "applier", []string{a, b, c}}},
			after:  []part{{"new", "applier", []string{a, b, c}}},
			gone:   []string{"old"},
		},
		{
			says:   "that splits a selection in two",
			before: []part{{"all", "all", []string{a, b, c}}},
			after:  []part{{"all", "all", []string{a}}, {"rest", "rest", []string{b, c}}},
		},
		{
			says:   "that joins two selections while a third one grows",
			before: []part{{"one", "one", []string{a, b}}, {"two", "two", []string{c}}},
			after:  []part{{"one", "one", []string{a}}, {"three", "three", []string{b}}, {"two", "two", []string{c}}},
		},
	}
}

// manifests returns the manifests of a commit, in the order in which kustomize-controller applies them. It names what former
// parts have, and these have not.
func (e *estate) manifests(parts []part, former ...part) (manifests []string) {
	for _, p := range parts {
		var leaving []string
		for _, f := range former {
			if f.selection == p.selection {
				leaving = slices.DeleteFunc(slices.Clone(f.apps), func(app string) bool { return slices.Contains(p.apps, app) })
			}
		}
		manifests = append(manifests, e.selecting(p.selection, limitedTo(p.apps...), naming(leaving...)))
	}
	for _, p := range parts {
		manifests = append(manifests, e.applying(p.kustomization, p.selection))
	}
	return manifests
}

// TestAMoveDeletesNothing applies each move as one commit, with prune everywhere.
func TestAMoveDeletesNothing(t *testing.T) {
	for i := range moves("") {
		name := fmt.Sprintf("move%d", i+1)
		m := moves(name)[i]
		t.Run(m.says, func(t *testing.T) {
			e := newEstate(t, name, catalogOf(name))
			e.commit(e.manifests(m.before))
			before := e.awaitParts(m.before...)
			var gone []client.Object
			for _, selection := range m.gone {
				gone = append(gone, e.selectionOf(selection))
			}
			e.commit(e.manifests(m.after, m.before...), gone...)
			e.assertSameObjects(before, e.awaitParts(m.after...))
		})
	}
}

// A catalog renames a tier, and one pull request changes the tag and the selection. kustomize-controller
// applies the selection first, and source-controller pulls the tag later.
func TestATierThatIsRenamedInCatalogAndSpecTakesNothingAway(t *testing.T) {
	restartWith(t, stack.ControllerOptions{Args: []string{"--settle-delay=30s"}})
	e := newEstate(t, "retier", catalogOf("retier"))
	parts := []part{{"apps", "apps", []string{"retier-a", "retier-b", "retier-c"}}}
	e.commit([]string{
		e.selecting("apps", "limit: {metadataSelector: {tierRefs: [gold, silver]}}"),
		e.applying("apps", "apps"),
	})
	before := e.awaitParts(parts...)
	apps := catalogOf("retier")
	apps[2].tier = "standard"
	e.push("v2", apps)
	objects, err := e.definitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	e.commit([]string{e.selecting("apps", "limit: {metadataSelector: {tierRefs: [gold, standard]}}")})
	e.of("apps").awaitSelection("waits for its sources", func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReconciling(cs) || conditions.GetReason(cs, "Ready") != v1alpha1.SourcesUnsettledReason {
			return errors.New("it does not wait")
		}
		return nil
	})
	e.assertSameObjects(before, e.uids())
	e.point("v2")
	e.awaitParts(parts...)
	e.of("apps").awaitNoted("v2")
	after, err := e.definitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(resourceVersions(after)), fmt.Sprint(resourceVersions(objects)); got != want {
		t.Errorf("definitions were changed: %s, were %s", got, want)
	}
}

// An edit that removes applications continues once the sources have settled.
func TestAnEditThatTakesAwayWaitsAndGoesOn(t *testing.T) {
	e := newEstate(t, "narrower", catalogOf("narrower"))
	e.commit([]string{e.selecting("apps"), e.applying("apps", "apps")})
	e.awaitParts(part{"apps", "apps", []string{"narrower-a", "narrower-b", "narrower-c"}})
	e.commit([]string{e.selecting("apps", "exclude: [narrower-b]")})
	e.of("apps").awaitSelection("waits for its sources", func(cs *v1alpha1.CatalogSelection) error {
		if conditions.GetReason(cs, "Ready") != v1alpha1.SourcesUnsettledReason {
			return errors.New("it does not wait")
		}
		return nil
	})
	e.awaitParts(part{"apps", "apps", []string{"narrower-a", "narrower-c"}})
}

// restartWith restarts the controller with options until the end of a test.
func restartWith(t *testing.T, options stack.ControllerOptions) {
	t.Helper()
	if err := system.restart(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := system.restart(context.WithoutCancel(t.Context()), stack.ControllerOptions{}); err != nil {
			t.Error(err)
		}
	})
}
