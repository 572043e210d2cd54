// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// release pushes a catalog under a tag, points Flux to it and returns the manifest's digest.
func (s *scenario) release(tag string, apps []app) string {
	s.t.Helper()
	s.upgrade(tag, apps)
	return s.awaitPulled(tag)
}

// awaitPulled waits until Flux has pulled a tag, and returns the manifest's digest.
func (s *scenario) awaitPulled(tag string) string {
	s.t.Helper()
	repository := s.repository()
	s.await("pulled "+tag, func(ctx context.Context) error {
		if err := system.Client().Get(ctx, keyOf(repository), repository); err != nil {
			return err
		}
		if a := repository.Status.Artifact; a == nil || !strings.HasPrefix(a.Revision, tag+"@") {
			return fmt.Errorf("not yet: %v", a)
		}
		return nil
	})
	_, digest, _ := strings.Cut(repository.Status.Artifact.Revision, "@")
	return digest
}

// awaitHeld waits until the revision with the digest is held for exactly these reasons, each
// "<reason> <application> [<versions>]". The digest approves it, or the checksum of the render if the last
// publication is unknown.
func (s *scenario) awaitHeld(digest string, want ...string) *v1alpha1.CatalogSelection {
	s.t.Helper()
	return s.awaitSelection("held "+digest, func(cs *v1alpha1.CatalogSelection) error {
		held := cs.Status.Held
		if !conditions.IsTrue(cs, v1alpha1.HeldCondition) || held == nil || !strings.HasSuffix(held.Revision, digest) {
			return fmt.Errorf("not held: %+v", held)
		}
		var got []string
		for _, r := range held.Reasons {
			got = append(got, fmt.Sprintf("%s %s %v", r.Reason, r.Application, r.Versions))
		}
		byRevision := slices.Equal(held.Approve, []string{digest})
		if first := cs.Status.Artifact == nil; !slices.Equal(got, want) || byRevision == first || len(held.Approve) != 1 {
			return fmt.Errorf("held for %v, to be released by %v; want %v", got, held.Approve, want)
		}
		return nil
	})
}

func (s *scenario) edit(mutate func(*v1alpha1.CatalogSelectionSpec)) {
	s.t.Helper()
	cs := s.selection.DeepCopy()
	s.update(cs, func() { mutate(&cs.Spec) })
}

func (s *scenario) approve(digests ...string) {
	s.t.Helper()
	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Safeguards.Approve = digests })
}

// unchanged records the artifact and the live definitions, and returns a check that neither has changed.
func (s *scenario) unchanged() func() {
	s.t.Helper()
	_, ea, _, err := s.live(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	before, err := s.definitions(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return func() {
		s.t.Helper()
		s.assertServed(ea)
		after, err := s.definitions(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		if got, want := fmt.Sprint(resourceVersions(after)), fmt.Sprint(resourceVersions(before)); got != want {
			s.t.Errorf("definitions changed: %s, were %s", got, want)
		}
	}
}

func TestWhatVanishesFromTheCatalogIsHeld(t *testing.T) {
	s := newScenario(t, "held", catalogOf("held"), nil)
	s.awaitApplied("held-a", "held-b", "held-c")
	unchanged := s.unchanged()

	t.Run("an application", func(*testing.T) {
		digest := s.release("no-b", append(catalogOf("held")[:1], catalogOf("held")[2]))
		held := s.awaitHeld(digest, "Removal held-b [2.0.0]")
		if !conditions.IsReady(held) {
			s.t.Errorf("not Ready on the old revision: %+v", held.Status.Conditions)
		}
		s.approve("sha256:" + strings.Repeat("0", 64))
		s.awaitHeld(digest, "Removal held-b [2.0.0]")
		unchanged()
		s.approve(digest)
		s.awaitApplied("held-a", "held-c")
	})
	t.Run("a version of one", func(*testing.T) {
		unchanged = s.unchanged()
		apps := append(catalogOf("held")[:1], catalogOf("held")[2])
		apps[0].versions = []string{"1.1.0", "1.2.0"}
		digest := s.release("no-1.0.0", apps)
		s.awaitHeld(digest, "VersionRemoval held-a [1.0.0]")
		unchanged()
		s.approve(digest)
		s.awaitApplied("held-a", "held-c")
	})
	t.Run("what was approved once is not for the next", func(*testing.T) {
		unchanged = s.unchanged()
		apps := catalogOf("held")[2:]
		digest := s.release("no-a", apps)
		s.awaitHeld(digest, "Removal held-a [1.1.0 1.2.0]")
		unchanged()
	})
	t.Run("the catalog takes it back", func(*testing.T) {
		s.point("no-1.0.0")
		s.awaitSelection("released", func(cs *v1alpha1.CatalogSelection) error {
			if !conditions.IsFalse(cs, v1alpha1.HeldCondition) || cs.Status.Held != nil || !conditions.IsReady(cs) {
				return errors.New("still held")
			}
			return nil
		})
		unchanged()
	})
}

func TestSpecAndCatalogAreToldApart(t *testing.T) {
	s := newScenario(t, "apart", catalogOf("apart"), nil)
	s.awaitApplied("apart-a", "apart-b", "apart-c")

	// A narrower limit in Git is a reviewed change.
	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"apart-c"} })
	s.awaitApplied("apart-a", "apart-b")

	// Both at once: the catalog drops b and moves a to another tier, Git narrows to gold and
	// excludes nothing more.
	apps := catalogOf("apart")
	apps[0].versions = apps[0].versions[1:]
	digest := s.release("v2", slices.Delete(apps, 1, 2))
	s.awaitHeld(digest, "VersionRemoval apart-a [1.0.0]", "Removal apart-b [2.0.0]")
	unchanged := s.unchanged()
	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"apart-a"} })
	s.awaitHeld(digest, "Removal apart-b [2.0.0]")
	unchanged()
	s.approve(digest)
	s.awaitApplied("apart-c")
}

// eventCounts maps the reasons of the events of a selection to their counts.
func (s *scenario) eventCounts(ctx context.Context) map[string]int {
	s.t.Helper()
	var events corev1.EventList
	if err := system.Client().List(ctx, &events, client.InNamespace(s.name)); err != nil {
		s.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, e := range events.Items {
		if e.InvolvedObject.Kind == v1alpha1.CatalogSelectionKind {
			counts[e.Reason] += int(max(e.Count, 1))
		}
	}
	return counts
}

func TestARestartChangesNothingOfAHold(t *testing.T) {
	s := newScenario(t, "hrestart", catalogOf("hrestart"), nil)
	s.awaitApplied("hrestart-a", "hrestart-b", "hrestart-c")
	digest := s.release("v2", catalogOf("hrestart")[1:])
	held := s.awaitHeld(digest, "Removal hrestart-a [1.0.0 1.1.0]")
	before, err := s.definitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := system.restart(t.Context(), stack.ControllerOptions{}); err != nil {
		t.Fatal(err)
	}
	// The data directory is empty: the archive is rendered again from the last good source.
	s.await("served again", func(ctx context.Context) error {
		_, ea, _, err := s.live(ctx)
		if err != nil {
			return err
		}
		if a := ea.Status.Artifact; a.Revision != held.Status.Artifact.Revision || s.download(ctx, a.URL) != a.Digest {
			return fmt.Errorf("serves %+v", a)
		}
		return nil
	})
	now := s.awaitHeld(digest, "Removal hrestart-a [1.0.0 1.1.0]")
	if !conditions.IsReady(now) || conditions.Get(now, v1alpha1.HeldCondition).LastTransitionTime != conditions.Get(held, v1alpha1.HeldCondition).LastTransitionTime {
		t.Errorf("the restart left a trace: %+v, before %+v", now.Status.Conditions, held.Status.Conditions)
	}
	after, err := s.definitions(t.Context())
	if err != nil || fmt.Sprint(resourceVersions(after)) != fmt.Sprint(resourceVersions(before)) {
		t.Errorf("definitions changed (%v)", err)
	}
	if n := s.eventCounts(s.t.Context())[v1alpha1.RemovalReason]; n != 1 {
		t.Errorf("%d events tell of the held revision, want 1", n)
	}
	s.approve(digest)
	s.awaitApplied("hrestart-b", "hrestart-c")
}

func TestFirstPublicationDoesNotTakeVersionsFromLiveDefinitions(t *testing.T) {
	live := definitionOf("adopt-a")
	live.Object["spec"] = map[string]any{
		"method": "helm", "description": "made by hand",
		"versions": []any{liveVersion("0.9.0"), liveVersion("1.0.0")},
	}
	if err := system.Client().Create(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	s := newScenario(t, "adopt", catalogOf("adopt"), func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.Exclude = []string{"adopt-c"}
	})
	cs := s.awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Held == nil || len(cs.Status.Held.Approve) != 1 {
			return errors.New("not held")
		}
		return nil
	})
	_, digest, _ := strings.Cut(cs.Status.Held.Revision, "@")
	s.awaitHeld(digest, "Adoption adopt-a [0.9.0]")
	if cs.Status.Artifact != nil || !conditions.IsFalse(cs, meta.ReadyCondition) || !conditions.IsStalled(cs) {
		t.Errorf("published, or not stalled: %+v", cs.Status)
	}
	if now := s.get(s.t.Context(), live); now.GetResourceVersion() != live.GetResourceVersion() {
		t.Errorf("the live definition was changed: %v", now)
	}
	s.approve(cs.Status.Held.Approve[0])
	s.awaitApplied("adopt-a", "adopt-b")
}

func liveVersion(version string) map[string]any {
	return map[string]any{"version": version, "template": map[string]any{"source": map[string]any{"helm": map[string]any{
		"url": "https://charts.example.com", "chartName": "a", "chartVersion": version,
	}}}}
}
