package controllers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/go-logr/logr/funcr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

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

// wokenUntil waits for a selection to be put into the queue, and returns all that were by then.
func (c *liveCluster) wokenUntil(name string) []string {
	c.Helper()
	var names []string
	c.await(name+" to be woken", func() bool {
		names = append(names, c.woken()...)
		return slices.Contains(names, name)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// watched returns why the kind of the definitions is not watched, nil if it is.
func (c *liveCluster) watched() error {
	_, err := c.reconciler.cluster.Kinds.Look(c.Context(), kinds.Kind{GVK: gvkOf(c.group)}, c.key("kkp"))
	return err
}

// logKinds makes the watches log what they do.
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
			t.Fatalf("without the kind, the watch says %v", err)
		}
		c.reconciler.cluster.Kinds.Retry(ctx)
		c.publish("kkp")
		c.equal("woken without the kind", c.woken(), []string(nil))

		c.install(c.group)
		c.publish("kkp")
		c.reconciler.cluster.Kinds.Retry(ctx)
		c.equal("woken by the kind", c.woken(), []string{"kkp"})
		c.apply("kkp", "argocd")
		c.bypass("argocd")
		cs := c.look()
		c.equal("bypassed", cs.Status.Bypassed, []string{"argocd"})
		c.equal("marks", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))

		c.woken()
		c.uninstall(c.group)
		c.await("the watch to end", func() bool { return c.watched() != nil })
		c.wokenUntil("kkp")
		cs, _ = c.publish("kkp")
		c.equal("bypassed without the kind", cs.Status.Bypassed, []string(nil))
		c.woken()
	}
	c.equal("log lines", logged.about("watch"), []string{"watch ended", "watch ended"})
	c.equal("events", c.events.take(), []string(nil))
}

// lines are what was logged.
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

func TestAForgottenAskerIsNotWoken(t *testing.T) {
	c := withoutKind(t)
	c.publish("kkp")
	c.remove(c.get("kkp"))
	c.reconciled("kkp")
	c.woken()
	c.install(c.group)
	c.reconciler.cluster.Kinds.Retry(c.Context())
	c.equal("woken", c.woken(), []string(nil))
	c.uninstall(c.group)
}

func TestWhatMayNotBeReadIsSaidOnce(t *testing.T) {
	definitions := read(platformGroup, "applicationdefinitions")
	for _, test := range []struct {
		name   string
		rights []right
		said   int
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
			if said := c.forbidden(); said != test.said {
				t.Errorf("it was said %d times that something is forbidden, want %d", said, test.said)
			}
			c.equal("marks", c.marks("argocd"), test.marks)
			c.reconciler.cluster.Kinds.Retry(c.Context())
			c.catalog("argocd", "falco")
			c.publish("kkp")
			c.equal("times that it was said again", c.forbidden(), 0)
		})
	}
}

// TestWhatIsSaidOfKustomizationsIsTrue: whoever cannot see them marks all the same, because one
// could act here.
func TestWhatIsSaidOfKustomizationsIsTrue(t *testing.T) {
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
			t.Errorf("the event %q says %q, which is not so", message, part)
		}
	}
}

// TestARightToListAloneIsNotEnough: the cache is filled, and then its watch is refused.
func TestARightToListAloneIsNotEnough(t *testing.T) {
	c := publishing(t)
	list := right{group: platformGroup, resource: "applicationdefinitions", verbs: []string{"list"}}
	c.runAs(list, readKustomizations(), mark())
	c.publish("kkp")
	c.await("the watch to be refused", func() bool { return errors.Is(c.watched(), kinds.ErrForbidden) })
	c.wokenUntil("kkp")
	c.publish("kkp")
	c.publish("kkp")
	c.equal("times that it was said", c.forbidden(), 1)
}

func TestARightThatIsGrantedLaterIsUsed(t *testing.T) {
	c := publishing(t)
	c.runAs()
	c.bypass("argocd")
	c.publish("kkp")
	c.woken()
	c.reconciler.cluster.Kinds.Retry(c.Context())
	c.equal("woken without the right", c.woken(), []string(nil))
	c.allow(c.account("controller"), read(platformGroup, "applicationdefinitions"), mark())
	c.reconciler.cluster.Kinds.Retry(c.Context())
	c.equal("woken by the right", c.woken(), []string{"kkp"})
	c.look()
	c.equal("marks", c.marks("argocd"), appliedAnd("disabled by winnow-marks"))
}

// seeArgoCD changes the status of a definition.
func (c *liveCluster) seeArgoCD() {
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
		{"the status of a definition that it holds", (*liveCluster).seeArgoCD, nil},
		{"a definition that nobody holds", func(c *liveCluster) { c.create("falco"); c.bypass("falco") }, nil},
		{"a definition that it has applied, and does not hold", func(c *liveCluster) { c.apply("kkp", "falco") }, []string{"kkp"}},
		{"a definition that nobody holds, where that is labelled", func(c *liveCluster) { c.edit(labelling); c.create("falco") }, []string{"kkp"}},
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
			c.woken()
			test.change(c)
			// What wakes the sentinel comes after the change, by either watch.
			c.apply("sentinel", "zeta")
			woken := c.wokenUntil("sentinel")
			c.consumer("sentinel", "sentinel")
			woken = append(woken, c.wokenUntil("sentinel")...)
			woken = slices.DeleteFunc(woken, func(name string) bool { return name == "sentinel" })
			slices.Sort(woken)
			if !slices.Equal(slices.Compact(woken), test.want) {
				t.Errorf("woken are %v, want %v", woken, test.want)
			}
		})
	}
}

// TestAMarkIsNotFollowedByMore: a mark wakes its selection once, and then all is quiet.
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
