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
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"
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
// "<reason> <application> [<versions>]".
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
		if !slices.Equal(got, want) || len(held.Approve) == 0 {
			return fmt.Errorf("held for %v, to be released by %v; want %v", got, held.Approve, want)
		}
		return nil
	})
}

// approveHeld adds the lines that are printed, which have to be these.
func (s *scenario) approveHeld(cs *v1alpha1.CatalogSelection, want ...string) {
	s.t.Helper()
	if got := cs.Status.Held.Approve; !slices.Equal(got, want) {
		s.t.Errorf("the lines are %q, want %q", got, want)
	}
	s.approve(cs.Status.Held.Approve...)
}

func (s *scenario) edit(mutate func(*v1alpha1.CatalogSelectionSpec)) {
	s.t.Helper()
	cs := s.selection.DeepCopy()
	s.update(cs, func() { mutate(&cs.Spec) })
}

// approve adds lines to the selection.
func (s *scenario) approve(lines ...string) {
	s.t.Helper()
	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Safeguards.Approve = append(spec.Safeguards.Approve, lines...)
	})
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
		s.approve("held-d", "held-b/*", digest)
		held = s.awaitHeld(digest, "Removal held-b [2.0.0]")
		unchanged()
		s.approveHeld(held, "held-b")
		s.awaitApplied("held-a", "held-c")
	})
	t.Run("a version of one", func(*testing.T) {
		unchanged = s.unchanged()
		apps := append(catalogOf("held")[:1], catalogOf("held")[2])
		apps[0].versions = []string{"1.1.0", "1.2.0"}
		digest := s.release("no-1.0.0", apps)
		held := s.awaitHeld(digest, "VersionRemoval held-a [1.0.0]")
		unchanged()
		s.approveHeld(held, "held-a/1.0.0")
		s.awaitApplied("held-a", "held-c")
	})
	t.Run("a line that was used is not for the next", func(*testing.T) {
		s.awaitHeld(s.release("b-again", catalogOf("held")[1:]), "Removal held-a [1.1.0 1.2.0]")
		s.point("no-1.0.0")
		s.approve("held-c#2")
		apps := append(catalogOf("held")[:1], catalogOf("held")[1])
		apps[0].versions = []string{"1.1.0", "1.2.0"}
		s.release("b-for-c", apps)
		s.awaitApplied("held-a", "held-b")
		unchanged = s.unchanged()
		held := s.awaitHeld(s.release("no-b-again", apps[:1]), "Removal held-b [2.0.0]")
		if want := []string{"held-b#2"}; !slices.Equal(held.Status.Held.Approve, want) {
			s.t.Errorf("the lines are %q, want %q", held.Status.Held.Approve, want)
		}
		unchanged()
	})
	t.Run("the catalog takes it back", func(*testing.T) {
		s.point("b-for-c")
		s.awaitSelection("released", func(cs *v1alpha1.CatalogSelection) error {
			if !conditions.IsFalse(cs, v1alpha1.HeldCondition) || cs.Status.Held != nil || !conditions.IsReady(cs) {
				return errors.New("still held")
			}
			return nil
		})
		unchanged()
	})
}

// Whoever takes something away, it is held until Git names it: a catalog, an edit, or a patch.
func TestWhatAnEditTakesAwayIsHeldUntilItIsNamed(t *testing.T) {
	s := newScenario(t, "apart", catalogOf("apart"), nil)
	s.awaitApplied("apart-a", "apart-b", "apart-c")
	unchanged := s.unchanged()
	digest := s.awaitPulled("v1")

	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Limit = &v1alpha1.Limit{NameSelector: []string{"apart-a", "apart-b"}}
	})
	s.awaitHeld(digest, "Removal apart-c [3.0.0]")
	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Limit, spec.Versions = nil, []v1alpha1.VersionRule{{Names: []string{"apart-a"}, Latest: 1}}
	})
	s.awaitHeld(digest, "VersionRemoval apart-a [1.0.0]")
	unchanged()

	// spec.exclude names what it takes, and a line what the rule and the catalog take at the same time.
	s.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Exclude = []string{"apart-c"} })
	s.awaitHeld(s.release("v2", slices.Delete(catalogOf("apart"), 1, 2)), "Removal apart-b [2.0.0]", "VersionRemoval apart-a [1.0.0]")
	unchanged()
	s.approve("apart-a/*")
	held := s.awaitHeld(s.digestOf("v2"), "Removal apart-b [2.0.0]")
	unchanged()
	s.approveHeld(held, "apart-b")
	s.awaitApplied("apart-a")
}

// A strategic merge patch replaces spec.versions as a whole: what it leaves out is lost.
func TestAPatchThatReplacesVersionsIsHeld(t *testing.T) {
	one, two := newReplacing(t, "mergeone", v1alpha1.DeletionPolicyDelete), newReplacing(t, "mergetwo", v1alpha1.DeletionPolicyOrphan)
	for _, s := range []replacing{one, two} {
		unchanged := s.unchanged()
		s.edit(func(spec *v1alpha1.CatalogSelectionSpec) { spec.Patches = s.patches("9.0.0") })
		held := s.awaitHeld(s.digestOf("v1"), "VersionRemoval "+s.name+"-a [1.0.0 1.1.0]")
		unchanged()
		s.approveHeld(held, s.name+"-a/1.0.0", s.name+"-a/1.1.0")
		s.awaitVersions("9.0.0")
	}

	// What stays in the cluster waits for nothing once it is named.
	restartWith(t, stack.ControllerOptions{Args: []string{"--settle-delay=10m"}})
	start := time.Now()
	two.edit(func(spec *v1alpha1.CatalogSelectionSpec) {
		spec.Patches, spec.Safeguards.Approve = two.patches("10.0.0"), append(spec.Safeguards.Approve, two.name+"-a/9.0.0")
	})
	two.awaitVersions("10.0.0")
	t.Logf("live %v after the edit", time.Since(start).Round(100*time.Millisecond))
}

// replacing is a selection whose first definition is patched.
type replacing struct{ *scenario }

func newReplacing(t *testing.T, name, policy string) replacing {
	s := newScenario(t, name, catalogOf(name), func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.DeletionPolicy = policy
	})
	s.awaitApplied(name+"-a", name+"-b", name+"-c")
	return replacing{s}
}

// patches returns a strategic merge patch that has one version.
func (s replacing) patches(version string) []kustomize.Patch {
	return []kustomize.Patch{{Patch: fmt.Sprintf(`apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: %s-a}
spec:
  versions:
  - {version: %s, template: {source: {helm: {url: "https://charts.example.com", chartName: a, chartVersion: %[2]s}}}}
`, s.name, version)}}
}

func (s replacing) awaitVersions(want ...string) {
	s.t.Helper()
	s.await("live", func(ctx context.Context) error {
		live, err := s.definitions(ctx)
		if got := liveVersions(live[s.name+"-a"]); err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("live are %v", got)
		}
		return err
	})
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
	s.approveHeld(now, "hrestart-a")
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
	cs = s.awaitHeld(digest, "Adoption adopt-a [0.9.0]")
	if cs.Status.Artifact != nil || !conditions.IsFalse(cs, meta.ReadyCondition) || !conditions.IsStalled(cs) {
		t.Errorf("published, or not stalled: %+v", cs.Status)
	}
	if now := s.get(s.t.Context(), live); now.GetResourceVersion() != live.GetResourceVersion() {
		t.Errorf("the live definition was changed: %v", now)
	}
	s.approveHeld(cs, "adopt-a/0.9.0:live")
	s.awaitApplied("adopt-a", "adopt-b")
}

func liveVersion(version string) map[string]any {
	return map[string]any{"version": version, "template": map[string]any{"source": map[string]any{"helm": map[string]any{
		"url": "https://charts.example.com", "chartName": "a", "chartVersion": version,
	}}}}
}
