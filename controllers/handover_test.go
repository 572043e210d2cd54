package controllers

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

type countingReader struct {
	client.Reader
	lists int
}

func (r *countingReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, ok := list.(*kustomizev1.KustomizationList); ok {
		r.lists++
	}
	return r.Reader.List(ctx, list, opts...)
}

// Marks that cannot be removed, because the giver's Kustomization is suspended, cost a list of all Kustomizations each, every 5 s.
func TestStuckMarksDoNotListKustomizationsOnceEach(t *testing.T) {
	names := []string{"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"}
	c := newCluster(t)
	c.catalog(append(names, "rest")...)
	c.selection("alpha", compared)
	c.selection("beta", compared, without(append(names, "rest")...), func(cs *v1alpha1.CatalogSelection) { cs.Spec.Safeguards.OnEmpty = v1alpha1.SafeguardPublish })
	c.consumer("alpha", "alpha", pruning)
	c.consumer("beta", "beta", pruning)
	c.settle("alpha", "beta")
	c.flux("alpha", "alpha", append(names, "rest")...)
	c.settle("alpha", "beta")
	c.change("alpha", without(names...))
	c.change("beta", without("rest"))
	c.rounds("alpha", "beta")
	c.flux("beta", "beta", names...) // alpha's Kustomization is suspended: its inventory has them still
	c.rounds("alpha", "beta")
	c.equal("kept", c.kept("a1"), disabled)
	reader := &countingReader{Reader: apiServer}
	c.reconciler.Cluster.APIReader = reader
	c.settle("beta")
	if reader.lists > 1 {
		t.Errorf("one reconciliation lists all Kustomizations %d times, for %d marks", reader.lists, len(names))
	}
}

// Another process (the next leader, another shard) sets marks by the same manager between read and write.
func TestMarksOfAnotherProcessAreNotStripped(t *testing.T) {
	c := moving(t)
	c.change("alpha", without("argocd", "nginx"))
	c.change("beta", without("falco"))
	c.rounds("alpha", "beta")
	c.flux("alpha", "alpha", "falco")
	c.equal("kept", c.kept("argocd"), disabled)
	c.flux("beta", "beta", "argocd", "nginx")
	c.awaitCaches()
	c.wire.before = func(*http.Request) {
		c.wire.before = nil
		c.bypass("argocd")
		u := newDefinition(c.group, "argocd")
		u.SetAnnotations(map[string]string{reconcileAnnotation: disabled, pruneAnnotation: disabled})
		if err := apiServer.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(marksOwner)); err != nil {
			t.Fatal(err)
		}
	}
	c.reconciled("beta")
	c.equal("the mark of the bypass that another process has set", c.live("argocd").GetAnnotations()[reconcileAnnotation], disabled)
}

// A ring of three.
func TestARingOfThree(t *testing.T) {
	for _, order := range [][]string{{"alpha", "beta", "gamma"}, {"gamma", "beta", "alpha"}, {"beta", "gamma", "alpha"}} {
		t.Run(order[0]+order[1], func(t *testing.T) {
			c := moving(t)
			c.selection("gamma", compared, without("argocd", "nginx"))
			c.consumer("gamma", "gamma", pruning)
			c.settle("gamma")
			c.flux("gamma", "gamma", "falco")
			c.settle("gamma")
			c.change("alpha", without("argocd", "falco"))
			c.change("beta", without("argocd", "nginx"))
			c.change("gamma", without("nginx", "falco"))
			c.rounds(order...)
			c.ready("alpha", "beta", "gamma")
			c.equal("kept", []string{c.kept("argocd"), c.kept("nginx"), c.kept("falco")}, []string{disabled, disabled, disabled})
			c.flux("gamma", "gamma", "argocd")
			c.rounds(order...)
			c.flux("alpha", "alpha", "nginx")
			c.rounds(order...)
			c.flux("beta", "beta", "falco")
			c.rounds(order...)
			c.ready("alpha", "beta", "gamma")
			c.equal("kept at the end", []string{c.kept("argocd"), c.kept("nginx"), c.kept("falco")}, []string{"", "", ""})
		})
	}
}

// Two that wait at the barrier wake each other without an end, while a third one is slow.
func TestTwoThatWaitForOthersDoNotEnqueueEachOther(t *testing.T) {
	c := moving(t)
	c.selection("slow", compared, without("argocd", "nginx"))
	c.restart()
	c.change("alpha", without("argocd", "nginx"))
	c.change("beta", without("argocd", "nginx"))
	c.settle("alpha", "beta")
	count := 0
	for range 30 {
		woken := c.woken()
		woken = slices.DeleteFunc(woken, func(n string) bool { return n == "slow" })
		if len(woken) == 0 {
			break
		}
		count += len(woken)
		c.settle(woken...)
	}
	if count > 10 {
		t.Errorf("%d reconciliations while nothing happened", count)
	}
	_ = time.Second
	_ = schema.GroupKind{}
}
