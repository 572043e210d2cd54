// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/controllers/record"
)

// releaseReads counts the reads of HelmReleases from the API server, and can refuse them.
type releaseReads struct {
	client.Reader

	gets, lists, probes int
	// during runs once, within the next Get.
	during       func()
	refuseGets   error
	refuseProbes error
}

func (r *releaseReads) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if _, ok := object.(*unstructured.Unstructured); ok {
		if during := r.during; during != nil {
			r.during = nil
			during()
		}
		if r.gets++; r.refuseGets != nil {
			return r.refuseGets
		}
	}
	return r.Reader.Get(ctx, key, object, opts...)
}

func (r *releaseReads) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if list.GetObjectKind().GroupVersionKind().Kind == "HelmReleaseList" {
		if _, ok := list.(*unstructured.UnstructuredList); ok {
			r.lists++
		} else if r.probes++; r.refuseProbes != nil {
			return r.refuseProbes
		}
	}
	return r.Reader.List(ctx, list, opts...)
}

// countReads restarts the reconciler with a reader that counts.
func (c *liveCluster) countReads() *releaseReads {
	reads := &releaseReads{Reader: apiServer}
	c.restartWith(func(o *Options) { o.APIReader = reads })
	c.actAs(restConfig, "")
	return reads
}

// named returns names of instances.
func named(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("i%02d", i))
	}
	return names
}

// Others have HelmReleases as well, as many and as large as they like.
func TestOnlyTheObjectsOfInstancesAreRead(t *testing.T) {
	c := withInstances(t, named(25)...)
	reads := c.countReads()
	c.look()
	reads.gets, reads.lists = 0, 0
	c.equal("states", len(c.states()), 26)
	c.equal("reads and lists", []int{reads.gets, reads.lists}, []int{25, 0})
}

// A role may let the controller watch a kind, and not read its objects.
func TestAnObjectThatMayNotBeReadIsUnknown(t *testing.T) {
	c := withInstances(t, "a")
	reads := c.countReads()
	c.release("a", "True", "installed")
	c.look()
	c.equal("before", c.states()[1], "a True: installed")
	reads.refuseGets = apierrors.NewForbidden(schema.GroupResource{Group: "helm.toolkit.fluxcd.io", Resource: "helmreleases"}, "a", errors.New("no"))
	c.release("a", "False", "broken")
	c.equal("afterwards", c.states()[1], "a Unknown: the controller may not read objects of the kind HelmRelease: marks.enabled of the chart, or kubectl apply -k config/marks, grants it")
	reads.refuseGets = nil
	c.equal("with the right", c.states()[1], "a False: broken")
}

// A kind that cannot be listed, as one whose conversion fails, must not be tried once for each instance.
func TestAKindIsTriedOnceForAllInstances(t *testing.T) {
	c := withInstances(t, named(5)...)
	reads := c.countReads()
	reads.refuseProbes = errors.New("the conversion webhook does not answer")
	c.equal("state", c.states()[1], "i00 Unknown: HelmRelease "+c.namespace+"/i00 cannot be read: "+
		"reading HelmRelease.helm.toolkit.fluxcd.io: the conversion webhook does not answer")
	c.equal("attempts", reads.probes, 1)
}

// A selection may be deleted while its instances are read.
func TestNothingIsKeptOfADeletedSelection(t *testing.T) {
	c := withInstances(t, "a")
	reads := c.countReads()
	cs := c.look()
	reads.during = func() {
		c.remove(c.get("kkp"))
		for range 2 { // removes the finalizer, and then finds nothing
			if _, err := c.tryReconcile("kkp"); err != nil {
				t.Error(err)
			}
		}
	}
	for range 2 { // the reconciliation enqueues it again
		if err := c.reconciler.reportInstancesOf(c.context(), c.key("kkp")); err != nil {
			t.Fatal(err)
		}
	}
	reads.gets = 0
	if _, err := c.reconciler.cluster.Instances.Observe(t.Context(), cs, record.Live(cs)); err != nil {
		t.Fatal(err)
	}
	c.equal("reads of what is not kept", reads.gets, 1)
}
