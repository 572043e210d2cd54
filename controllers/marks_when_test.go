// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/metrics"
)

// Of thousands of selections with a new revision, most wait for a slot, and do nothing else meanwhile, unless the cluster changes.
func TestASelectionThatWaitsForASlotMarks(t *testing.T) {
	c := publishing(t)
	c.look()
	if err := c.reconciler.slots.take(c.key("other")); err != nil {
		t.Fatal(err)
	}
	c.source(applications(t, "argocd nginx falco"))
	waits := func() {
		c.Helper()
		before := c.get("kkp")
		if result, err := c.tryReconcile("kkp"); err != nil || result.RequeueAfter != slotPatience {
			t.Errorf("Reconcile() = %v, %v", result, err)
		}
		c.equal("the selection", c.get("kkp").Status.Artifact, before.Status.Artifact)
	}
	waits()
	c.equal("marks", c.marks("argocd"), appliedAnd())
	c.bypass("argocd")
	c.awaitEnqueued("kkp")
	waits()
	c.awaitCaches()
	c.equal("marks after the label", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
}

func TestMarksFollowWhateverTheSelectionDoes(t *testing.T) {
	bypass := func(c *liveCluster) { c.bypass("argocd") }
	unlabel := func(c *liveCluster) { c.look(); c.unlabel("argocd", v1alpha1.BypassLabel) }
	exclude := func(c *liveCluster) {
		c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"argocd"} })
	}
	suspend := func(c *liveCluster) {
		c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Suspend = true })
	}
	broken := func(c *liveCluster) {
		artifact := c.source(applications(c.T, "falco"))
		c.sources.Handle("/"+artifact.Path, http.NotFound)
	}
	missing := func(c *liveCluster) { c.setArtifact(sourcev1.OCIRepositoryKind, c.key("catalog"), nil) }
	invalid := func(c *liveCluster) {
		c.source(catalogArchive(c.T, "applications/a/application.yaml", "kind: ConfigMap\n"))
	}
	empty := func(c *liveCluster) {
		c.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"argocd", "nginx"} })
	}
	for _, test := range []struct {
		name  string
		steps []func(*liveCluster)
		want  []string
	}{
		{"one that leaves the artifact bypassed is marked", []func(*liveCluster){bypass, exclude}, []string{"disabled by winnow-marks"}},
		{"one that left the artifact is marked once it is bypassed", []func(*liveCluster){exclude, (*liveCluster).again, bypass}, []string{"disabled by winnow-marks"}},
		{"one that left the artifact marked stays marked", []func(*liveCluster){bypass, (*liveCluster).again, exclude, (*liveCluster).again}, []string{"disabled by winnow-marks"}},
		{"one that left the artifact is unmarked with the label", []func(*liveCluster){bypass, exclude, unlabel}, nil},
		{"a suspended selection marks", []func(*liveCluster){suspend, bypass}, []string{"disabled by winnow-marks"}},
		{"a suspended selection unmarks", []func(*liveCluster){bypass, (*liveCluster).again, suspend, unlabel}, nil},
		{"a selection that is held marks", []func(*liveCluster){empty, bypass}, []string{"disabled by winnow-marks"}},
		{"a selection whose source has no artifact marks", []func(*liveCluster){missing, bypass}, []string{"disabled by winnow-marks"}},
		{"a selection whose source has no artifact unmarks", []func(*liveCluster){bypass, (*liveCluster).again, missing, unlabel}, nil},
		{"a selection whose catalog is invalid marks", []func(*liveCluster){invalid, bypass}, []string{"disabled by winnow-marks"}},
		{"a selection whose source is unavailable marks", []func(*liveCluster){broken, bypass}, []string{"disabled by winnow-marks"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := publishing(t)
			for _, step := range test.steps {
				step(c)
			}
			c.again()
			c.equal("marks", c.marks("argocd"), appliedAnd(test.want...))
			c.unchanged()
		})
	}
}

// again reconciles the selection and ignores the result.
func (c *liveCluster) again() {
	c.Helper()
	c.awaitCaches()
	_, _ = c.tryReconcile("kkp")
	c.awaitCaches()
}

func TestMarksAreSetWhereAConsumerMayActHere(t *testing.T) {
	for _, test := range []struct {
		name      string
		consumers func(c *liveCluster)
		want      []string
	}{
		{"no consumer at all", func(*liveCluster) {}, []string{"disabled by winnow-marks"}},
		{"a local consumer", func(c *liveCluster) { c.consumer("here", "kkp") }, []string{"disabled by winnow-marks"}},
		{"a remote consumer", func(c *liveCluster) { c.consumer("there", "kkp", remotely) }, nil},
		{"a remote one and a local one", func(c *liveCluster) {
			c.consumer("there", "kkp", remotely)
			c.consumer("here", "kkp")
		}, []string{"disabled by winnow-marks"}},
		{"a remote one, and a local one of another namespace", func(c *liveCluster) {
			c.consumer("there", "kkp", remotely)
			c.neighbor().consumer("here", "kkp", func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Namespace = c.namespace })
		}, []string{"disabled by winnow-marks"}},
		{"a remote one, and a local one of something else", func(c *liveCluster) {
			c.consumer("there", "kkp", remotely)
			c.consumer("here", "other")
			c.consumer("git", "kkp", func(ks *kustomizev1.Kustomization) { ks.Spec.SourceRef.Kind = sourcev1.GitRepositoryKind })
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.catalog("argocd")
			c.selection("kkp")
			test.consumers(c)
			c.publish("kkp")
			c.apply("kkp", "argocd")
			c.own("here", "argocd")
			c.bypass("argocd")
			cs := c.look()
			c.equal("marks", c.marks("argocd"), appliedAnd(test.want...))
			bypassed := []string{"argocd"}
			if test.want == nil {
				bypassed = nil // definitions of this cluster do not concern it
			}
			c.equal("bypassed", cs.Status.Bypassed, bypassed)
		})
	}
}

func TestAConsumerThatGoesAwayDoesNotUnmark(t *testing.T) {
	c := publishing(t)
	c.bypass("argocd")
	c.look()
	c.remove(c.kustomization("apps"))
	c.look()
	c.equal("marks without a consumer", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
	c.consumer("there", "kkp", remotely)
	c.look()
	c.equal("marks with a remote consumer", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
	c.unlabel("argocd", v1alpha1.BypassLabel)
	c.look()
	c.equal("marks after the bypass, without a Kustomization", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
	c.consumer("here", "kkp")
	c.look()
	c.equal("marks after the bypass", c.marks("argocd"), appliedAnd())
}

func TestAMarkDoesNotRecreateADeletedDefinition(t *testing.T) {
	for _, test := range []struct {
		name      string
		meanwhile func(c *liveCluster)
		want      []string
	}{
		{"deleted", func(*liveCluster) {}, []string{"gone"}},
		{"created again", func(c *liveCluster) { c.create("argocd") }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := publishing(t)
			c.bypass("argocd")
			c.awaitCaches()
			c.wire.before = func(*http.Request) {
				c.wire.before = nil
				c.remove(c.live("argocd"))
				test.meanwhile(c)
			}
			c.reconcile("kkp")
			c.equal("marks", c.marks("argocd"), test.want)
			c.equal("events", c.events.take(), []string(nil))
			c.look()
			c.equal("marks", c.marks("argocd"), test.want)
		})
	}
}

// Flux must not get a revision before the definition that it would overwrite is marked.
func TestTheMarkComesBeforeTheArtifact(t *testing.T) {
	c := newCluster(t)
	c.create("argocd")
	c.bypass("argocd")
	c.catalog("argocd")
	c.selection("kkp")
	c.consumer("apps", "kkp")
	var seen []string
	c.traffic.before = func(write string, _ client.Object) error {
		if write == "create ExternalArtifact" || write == "patch CatalogSelection/status" && seen == nil {
			seen = c.marks("argocd")
		}
		return nil
	}
	c.publish("kkp")
	c.equal("marks when the artifact is announced", seen, []string{"disabled by winnow-marks"})
}

func TestTheStatusListsBypassedDefinitions(t *testing.T) {
	c := newCluster(t)
	own, err := metrics.New(prometheus.NewRegistry(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	c.restartWith(func(o *Options) { o.Metrics = own })
	measured := func() metrics.Selection { return own.Selections.Of(c.key("kkp")) }
	c.catalog("argocd", "nginx", "falco")
	c.selection("kkp")
	c.publish("kkp")
	c.apply("kkp", "argocd", "nginx", "falco")
	c.look()
	c.bypass("nginx", "argocd")
	cs := c.look()
	c.equal("bypassed", cs.Status.Bypassed, []string{"argocd", "nginx"})
	c.equal("summary.bypassed", cs.Status.Summary.Bypassed, 2)
	if since := measured().BypassedSince; time.Since(since).Abs() > time.Hour {
		t.Errorf("bypassed since %s", since)
	}
	c.equal("measured", measured().Bypassed, 2)
	c.unlabel("nginx", v1alpha1.BypassLabel)
	c.remove(c.live("argocd"))
	cs = c.look()
	c.equal("bypassed", cs.Status.Bypassed, []string(nil))
	c.equal("summary.bypassed", cs.Status.Summary.Bypassed, 0)
	c.equal("measured", measured().Bypassed, 0)
	c.equal("measured since", measured().BypassedSince, time.Time{})
}

func TestTheListOfTheBypassedIsBounded(t *testing.T) {
	const maxBypassed = 100
	c := newCluster(t)
	var names []string
	for i := range maxBypassed + 1 {
		names = append(names, fmt.Sprintf("app-%03d", i))
	}
	c.catalog(names...)
	c.selection("kkp")
	c.publish("kkp")
	c.apply("kkp", names...)
	c.bypass(names...)
	c.look()
	cs := c.look()
	c.equal("bypassed", cs.Status.Bypassed, names[:maxBypassed])
	c.equal("summary.bypassed", cs.Status.Summary.Bypassed, maxBypassed+1)
	c.unchanged()
}

// The selection that has set a mark may not exist any more when the bypass ends.
func TestMarksWithoutAHolderAreRemoved(t *testing.T) {
	t.Run("without another selection", func(t *testing.T) { cleansUpWithoutHolder(t, func(*liveCluster) {}) })
	t.Run("while a selection of another kind is held", func(t *testing.T) { cleansUpWithoutHolder(t, heldElsewhere) })
}

// heldElsewhere creates a held selection of another kind, which every change enqueues.
func heldElsewhere(c *liveCluster) {
	other := &liveCluster{environment: c.environment, group: "else." + platformGroup, wire: c.wire}
	other.catalog("tempo")
	other.selection("held", without("tempo"))
	c.reconciled("held")
}

func cleansUpWithoutHolder(t *testing.T, beside func(c *liveCluster)) {
	t.Helper()
	c := publishing(t)
	beside(c)
	c.bypass("argocd", "nginx")
	c.look()
	c.selection("heir", without("argocd", "nginx"))
	c.catalog("argocd", "nginx", "falco")
	c.settle("heir")
	c.remove(c.get("kkp"))
	c.reconciled("kkp")
	c.settle("heir")
	c.equal("marks while it is bypassed", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
	c.takeEnqueued()
	c.unlabel("argocd", v1alpha1.BypassLabel)
	c.enqueuedUntil("heir")
	c.settle("heir")
	c.equal("marks after the bypass", c.marks("argocd"), appliedAnd())
	c.equal("marks of the other bypassed definition", c.marks("nginx"), appliedAnd("disabled by winnow-marks"))
	c.equal("bypassed", c.get("heir").Status.Bypassed, []string(nil))
}

// The bypass ends before the cache has the status that counts it: without that, the status would not be written.
func TestABypassThatEndsBeforeTheCacheHasItIsNotCounted(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd", "nginx")
	c.selection("kkp")
	c.publish("kkp")
	c.apply("kkp", "argocd", "nginx")
	before := c.look()
	c.bypass("argocd")
	c.equal("bypassed", c.look().Status.Bypassed, []string{"argocd"})
	c.unlabel("argocd", v1alpha1.BypassLabel)
	c.traffic.replaceReads(func(key client.ObjectKey, object client.Object) (bool, error) {
		cs, ok := object.(*v1alpha1.CatalogSelection)
		if ok && key == c.key("kkp") {
			before.DeepCopyInto(cs)
		}
		return ok, nil
	})
	if _, err := c.tryReconcile("kkp"); err != nil {
		t.Fatal(err)
	}
	c.traffic.replaceReads(nil)
	c.equal("bypassed", c.get("kkp").Status.Bypassed, []string(nil))
}
