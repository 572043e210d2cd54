// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/stack"
)

// cluster is a real API server without controllers, whose statuses the tests write.
type cluster struct {
	*stack.Stack
	t *testing.T
}

// TestVerbsOnACluster shares one API server: each subtest has selections of its own.
func TestVerbsOnACluster(t *testing.T) {
	s, err := stack.Start(t.Context(), stack.Options{Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	testWithoutWinnow(&cluster{s, t})
	if err := s.ApplyPath(t.Context(), "config/crd/bases"); err != nil {
		t.Fatal(err)
	}
	(&cluster{s, t}).apply(liveSelections)
	t.Run("get", func(t *testing.T) { testGet(&cluster{s, t}) }) // it sees the selections of all
	t.Run("completion", func(t *testing.T) { testCompletion(&cluster{s, t}) })
	for name, test := range map[string]func(*cluster){
		"get forbidden": testForbidden,
		"reconcile":     testReconcile, "reconcile sources": testReconcileSources, "reconcile what is not ready": testNotReady,
		"reconcile twice at once": testOverlap, "several at once": testSeveral, "get and watch": testWatch,
		"suspend and resume": testSuspendAndResume, "approve": testApprove, "approve in a file": testApproveInFile, "diff live": testDiffLive, "receipt": testReceipt,
		"import live definitions": testImportOfLiveDefinitions,
	} {
		t.Run(name, func(t *testing.T) { test(&cluster{s, t}) })
	}
}

// apply applies manifests, and then the statuses in them.
func (c *cluster) apply(manifests string) {
	c.t.Helper()
	if err := c.Apply(c.t.Context(), []byte(manifests)); err != nil {
		c.t.Fatal(err)
	}
	for document := range strings.SplitSeq(manifests, "\n---\n") {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			c.t.Fatal(err)
		}
		if status := object.Object["status"]; status != nil {
			if err := c.report(c.t.Context(), object.GroupVersionKind(), client.ObjectKeyFromObject(&object), status); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// report writes a status.
func (c *cluster) report(ctx context.Context, kind schema.GroupVersionKind, key types.NamespacedName, status any) error {
	content, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	object := objectOf(kind, key)
	return c.Client().Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, content))
}

// key returns the name of the selection apps in a namespace.
func (*cluster) key(namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: "apps"}
}

func objectOf(kind schema.GroupVersionKind, key types.NamespacedName) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	return object
}

// apps returns the live selection of that name in a namespace.
func (c *cluster) apps(namespace string) *unstructured.Unstructured {
	c.t.Helper()
	object := objectOf(selectionGVK, c.key(namespace))
	if err := c.Client().Get(c.t.Context(), c.key(namespace), object); err != nil {
		c.t.Fatal(err)
	}
	return object
}

// play plays a controller until stop is called, or the test ends: it answers each new request, in the annotation of an object, with
// the status, to which it adds what all controllers report. Ready is "True", or the message why not.
func (c *cluster) play(kind schema.GroupVersionKind, namespace, name, ready string, status map[string]any) (stop func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	var done sync.WaitGroup
	stop = func() { cancel(); done.Wait() }
	c.t.Cleanup(stop)
	key := types.NamespacedName{Namespace: namespace, Name: name}
	done.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for handled := ""; ; {
			object := objectOf(kind, key)
			err := c.Client().Get(ctx, key, object)
			if requested := object.GetAnnotations()[meta.ReconcileRequestAnnotation]; err == nil && requested != handled {
				answer := answerTo(object, requested, ready)
				for field, value := range status {
					answer[field] = value
				}
				if c.report(ctx, kind, key, answer) == nil {
					handled = requested
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return stop
}

func answerTo(object *unstructured.Unstructured, requested, ready string) map[string]any {
	condition := metav1.Condition{
		Type: meta.ReadyCondition, Status: metav1.ConditionTrue, Reason: meta.SucceededReason, Message: "done",
		ObservedGeneration: object.GetGeneration(), LastTransitionTime: metav1.Now(),
	}
	if ready != "True" {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, meta.FailedReason, ready
	}
	return map[string]any{
		"lastHandledReconcileAt": requested, "observedGeneration": object.GetGeneration(), "conditions": []metav1.Condition{condition},
	}
}

// on runs a verb on the cluster.
func (c *cluster) on(args ...string) clitest.Execution {
	c.t.Helper()
	if args[0] == "__complete" {
		return clitest.Execute(c.t.Context(), args...)
	}
	flags := []string{args[0], "--kubeconfig", c.Kubeconfig(), "--timeout", "20s"}
	return clitest.Execute(c.t.Context(), append(flags, args[1:]...)...)
}

// expect runs a verb on the cluster and compares its exit code, its output, and a part of stderr.
func (c *cluster) expect(code int, stdout, stderr string, args ...string) {
	c.t.Helper()
	got := c.on(args...)
	if got.Code != code || got.Stdout != stdout || !strings.Contains(got.Stderr, stderr) || stderr == "" && got.Stderr != "" {
		c.t.Errorf("%v: exit code %d, want %d\nstdout:\n%s\nwant:\n%s\nstderr:\n%s\nwant:\n%s", args, got.Code, code, got.Stdout, stdout, got.Stderr, stderr)
	}
}
