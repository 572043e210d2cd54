// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/kinds"
)

// withoutKind returns a cluster where the selection "kkp" publishes argocd, of a kind that the API
// server does not serve.
func withoutKind(t *testing.T) *liveCluster {
	t.Helper()
	c := newCluster(t)
	c.group = c.namespace + ".winnow.example"
	c.catalog("argocd")
	c.selection("kkp")
	return c
}

// enqueuedUntil waits until a selection is enqueued, and returns all selections that were enqueued by then.
func (c *liveCluster) enqueuedUntil(name string) []string {
	c.Helper()
	var names []string
	c.await(name+" to be enqueued", func() bool {
		names = append(names, c.takeEnqueued()...)
		return slices.Contains(names, name)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// watched returns the reason why the kind of the definitions is not watched, nil if it is.
func (c *liveCluster) watched() error {
	_, err := c.reconciler.cluster.Kinds.Look(c.Context(), kinds.Kind{GVK: gvkOf(c.group)}, c.key("kkp"), false)
	return err
}

// logKinds captures the log of the watches.
func (c *liveCluster) logKinds(ctx context.Context) {
	options := cache.Options{Scheme: apiServer.Scheme(), Mapper: apiServer.RESTMapper()}
	c.reconciler.cluster.Kinds = kinds.New(ctx, restConfig, options, apiServer)
	c.reconciler.cluster.Kinds.Enqueue = c.reconciler.enqueue
}

func TestAKindThatComesAndGoes(t *testing.T) {
	c := withoutKind(t)
	var logged lines
	ctx := ctrl.LoggerInto(c.Context(), funcr.New(logged.add, funcr.Options{}))
	c.logKinds(ctx)
	c.publish("kkp")
	c.equal("events", c.events.take(), []string{"Normal Succeeded CatalogSelection", "Normal Succeeded ExternalArtifact"})
	for range 2 {
		if err := c.watched(); !errors.Is(err, kinds.ErrAbsent) {
			t.Fatalf("without the kind, the error of the watch is %v", err)
		}
		c.reconciler.cluster.Kinds.Retry(ctx)
		c.publish("kkp")
		c.equal("enqueued without the kind", c.takeEnqueued(), []string(nil))

		c.install(c.group)
		c.publish("kkp")
		c.reconciler.cluster.Kinds.Retry(ctx)
		c.equal("enqueued by the kind", c.takeEnqueued(), []string{"kkp"})
		c.apply("kkp", "argocd")
		c.bypass("argocd")
		cs := c.look()
		c.equal("bypassed", cs.Status.Bypassed, []string{"argocd"})
		c.equal("marks", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))

		c.takeEnqueued()
		c.uninstall(c.group)
		c.await("the watch to end", func() bool { return c.watched() != nil })
		c.enqueuedUntil("kkp")
		cs, _ = c.publish("kkp")
		c.equal("bypassed without the kind", cs.Status.Bypassed, []string(nil))
		c.takeEnqueued()
	}
	c.equal("log lines", logged.about("watch"), []string{"watch ended", "watch ended"})
	c.equal("events", c.events.take(), []string(nil))
}

// lines captures log messages.
type lines struct{ recorder }

func (l *lines) add(_, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, args)
}

// about returns the messages that begin with a word.
func (l *lines) about(word string) []string {
	var messages []string
	for _, line := range l.take() {
		_, message, _ := strings.Cut(line, `"msg"="`)
		message, _, _ = strings.Cut(message, `"`)
		if strings.HasPrefix(message, word) {
			messages = append(messages, message)
		}
	}
	return messages
}

func TestTheFirstKindOfTwoMayBeAbsent(t *testing.T) {
	c := newCluster(t)
	absent := "a." + c.namespace + ".example"
	c.source(catalogArchive(t,
		"applications/argocd/application.yaml", strings.Replace(definition("argocd", ""), "apps.kubermatic.k8c.io", absent, 1),
		"applications/nginx/application.yaml", strings.Replace(definition("nginx", ""), "apps.kubermatic.k8c.io", platformGroup, 1),
	))
	c.selection("kkp")
	c.publish("kkp")
	c.apply("kkp", "nginx")
	c.bypass("nginx")
	c.look()
	c.equal("marks", c.marks("nginx"), appliedAnd("disabled by winnow-marks"))
}

func TestAForgottenSubscriberIsNotEnqueued(t *testing.T) {
	c := withoutKind(t)
	c.publish("kkp")
	c.remove(c.get("kkp"))
	c.reconciled("kkp")
	c.takeEnqueued()
	c.install(c.group)
	c.reconciler.cluster.Kinds.Retry(c.Context())
	c.equal("enqueued", c.takeEnqueued(), []string(nil))
	c.uninstall(c.group)
}

func TestMissingRightsToReadAreReportedOnce(t *testing.T) {
	definitions := read(platformGroup, "applicationdefinitions")
	for _, test := range []struct {
		name   string
		rights []right
		events int
		marks  []string
	}{
		{"nothing is allowed", nil, 2, appliedAnd()},
		{"Kustomizations may be read", []right{readKustomizations(), mark()}, 1, appliedAnd()},
		{"definitions may be read and marked", []right{definitions, mark()}, 1, appliedAnd("disabled by winnow-marks")},
		{"definitions may be read", []right{definitions, readKustomizations()}, 1, appliedAnd()},
		{"everything is allowed", []right{definitions, readKustomizations(), mark()}, 0, appliedAnd("disabled by winnow-marks")},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := publishing(t)
			c.runAs(test.rights...)
			c.bypass("argocd")
			c.publish("kkp")
			if events := c.forbidden(); events != test.events {
				t.Errorf("%d events about missing rights, want %d", events, test.events)
			}
			c.equal("marks", c.marks("argocd"), test.marks)
			c.reconciler.cluster.Kinds.Retry(c.Context())
			c.catalog("argocd", "falco")
			c.publish("kkp")
			c.equal("repetitions of the event", c.forbidden(), 0)
		})
	}
}

// A controller that cannot read Kustomizations still marks, because one could apply to this cluster.
func TestMissingRightsToReadKustomizationsAreReported(t *testing.T) {
	c := publishing(t)
	c.runAs(read(platformGroup, "applicationdefinitions"), mark())
	c.bypass("argocd")
	c.look()
	c.equal("marks", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
	message := c.events.message
	for _, part := range []string{"Kustomization", "forbidden", "Applied"} {
		if !strings.Contains(message, part) {
			t.Errorf("the event %q does not say %q", message, part)
		}
	}
	for _, part := range []string{"no definition is marked", "config/marks"} {
		if strings.Contains(message, part) {
			t.Errorf("the event %q has the wrong part %q", message, part)
		}
	}
}

// The cache is filled, and then its watch is refused.
func TestARightToListAloneIsNotEnough(t *testing.T) {
	c := publishing(t)
	list := right{group: platformGroup, resource: "applicationdefinitions", verbs: []string{"list"}}
	c.runAs(list, readKustomizations(), mark())
	c.publish("kkp")
	c.await("the watch to be refused", func() bool { return errors.Is(c.watched(), kinds.ErrForbidden) })
	c.enqueuedUntil("kkp")
	c.publish("kkp")
	c.publish("kkp")
	c.equal("events about the missing right", c.forbidden(), 1)
}

func TestARightThatIsGrantedLaterIsUsed(t *testing.T) {
	c := publishing(t)
	c.runAs()
	c.bypass("argocd")
	c.publish("kkp")
	c.takeEnqueued()
	c.reconciler.cluster.Kinds.Retry(c.Context())
	c.equal("enqueued without the right", c.takeEnqueued(), []string(nil))
	c.allow(c.account("controller"), read(platformGroup, "applicationdefinitions"), mark())
	c.reconciler.cluster.Kinds.Retry(c.Context())
	c.equal("enqueued by the right", c.takeEnqueued(), []string{"kkp"})
	c.look()
	c.equal("marks", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
}

// updateStatusOfArgoCD changes the status of the definition argocd.
func (c *liveCluster) updateStatusOfArgoCD() {
	c.Helper()
	u := c.live("argocd")
	u.Object["status"] = map[string]any{"seen": true}
	if err := apiServer.Status().Update(c.Context(), u); err != nil {
		c.Fatal(err)
	}
}

func TestChangesReachTheSelectionsThatTheyConcern(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(c *liveCluster)
		want   []string
	}{
		{"a label of a definition that it holds", func(c *liveCluster) { c.bypass("argocd") }, []string{"kkp"}},
		{"the spec of a definition that it holds", func(c *liveCluster) {
			u := c.live("argocd")
			u.Object["spec"] = map[string]any{"description": "edited"}
			if err := apiServer.Update(c.Context(), u); err != nil {
				c.Fatal(err)
			}
		}, []string{"kkp"}},
		{"a definition that it holds is gone", func(c *liveCluster) { c.remove(c.live("argocd")) }, []string{"kkp"}},
		{"the status of a definition that it holds", (*liveCluster).updateStatusOfArgoCD, nil},
		{"a definition without a holder", func(c *liveCluster) { c.create("falco"); c.bypass("falco") }, nil},
		{"a definition that it has applied, and does not hold", func(c *liveCluster) { c.apply("kkp", "falco") }, []string{"kkp"}},
		{"a definition without a holder, which is labelled", func(c *liveCluster) { c.edit(labelling); c.create("falco") }, []string{"kkp"}},
		{"a new Kustomization of its artifact", func(c *liveCluster) { c.consumer("more", "kkp") }, []string{"kkp"}},
		{"a Kustomization of another artifact", func(c *liveCluster) { c.consumer("more", "none") }, []string{"none"}},
		{"a Kustomization that has applied something else", func(c *liveCluster) { c.reports("apps", older1) }, []string{"kkp"}},
		{"the heartbeat of a Kustomization", func(c *liveCluster) {
			c.report("apps", func(ks *kustomizev1.Kustomization) { ks.Status.LastHandledReconcileAt = "now" })
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := publishing(t)
			c.selection("sentinel", without("argocd"))
			c.look()
			c.settle("sentinel")
			c.takeEnqueued()
			test.change(c)
			// Both watches enqueue the sentinel after the change.
			c.apply("sentinel", "zeta")
			enqueued := c.enqueuedUntil("sentinel")
			c.consumer("sentinel", "sentinel")
			enqueued = append(enqueued, c.enqueuedUntil("sentinel")...)
			enqueued = slices.DeleteFunc(enqueued, func(name string) bool { return name == "sentinel" })
			slices.Sort(enqueued)
			if !slices.Equal(slices.Compact(enqueued), test.want) {
				t.Errorf("enqueued are %v, want %v", enqueued, test.want)
			}
		})
	}
}

// A mark enqueues its selection once, and nothing else follows.
func TestAMarkIsNotFollowedByMore(t *testing.T) {
	c := publishing(t)
	c.bypass("argocd")
	c.look()
	c.wire.taken()
	c.look()
	c.equal("requests", c.wire.taken(), []string(nil))
	c.unlabel("argocd", v1alpha1.BypassLabel)
	c.look()
	c.equal("requests", c.wire.taken(), []string{"PATCH argocd"})
	c.look()
	c.equal("requests", c.wire.taken(), []string(nil))
}

// The objects of all namespaces of the caches are read, each once, with their kind, also after a change.
func TestTheObjectsOfSeveralNamespaces(t *testing.T) {
	gvk := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	options, want := cache.Options{Scheme: apiServer.Scheme(), Mapper: apiServer.RESTMapper(), DefaultNamespaces: map[string]cache.Config{}}, []string(nil)
	for i := range 3 {
		e := newEnvironment(t)
		object := &corev1.ConfigMap{}
		object.Name, object.Namespace = "one", e.namespace
		if err := apiServer.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			options.DefaultNamespaces[e.namespace] = cache.Config{}
			want = append(want, e.namespace+" "+gvk.String())
		}
	}
	slices.Sort(want)
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(gvk)
	changes := make(chan bool, 1)
	watched := kinds.New(t.Context(), restConfig, options, apiServer)
	watched.Enqueue = func(context.Context, ...types.NamespacedName) {}
	kind := kinds.Kind{GVK: gvk, Object: object, Index: func(client.Object) []string { return []string{"all"} }, Concerned: func(_ context.Context, _, after client.Object) []types.NamespacedName {
		if after.GetAnnotations()["changed"] != "" {
			changes <- true
		}
		return nil
	}}
	changed := &corev1.ConfigMap{}
	changed.Name, changed.Namespace = "one", strings.Fields(want[0])[0]
	for _, label := range []string{"once", "by a watch that came again"} {
		reader, err := watched.Look(t.Context(), kind, types.NamespacedName{Name: "kkp"}, false)
		if err != nil {
			t.Fatal(err)
		}
		patch := []byte(`{"metadata":{"annotations":{"changed":"` + label + `"}}}`)
		if err := apiServer.Patch(t.Context(), changed, client.RawPatch(types.MergePatchType, patch)); err != nil {
			t.Fatal(err)
		}
		<-changes
		var got []string
		for object := range reader.Find("all") {
			if object, ok := object.(*metav1.PartialObjectMetadata); ok && object.Name == "one" {
				got = append(got, object.Namespace+" "+object.GroupVersionKind().String())
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("the objects are %v, want %v", got, want)
		}
		watched.Forget(types.NamespacedName{Name: "kkp"})
	}
}
