// SPDX-License-Identifier: Apache-2.0

// Package livetest has an API server for tests of the verbs that work on a cluster, and plays the controllers. It must not
// know what a verb prints.
package livetest

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

// Cluster is a real API server without controllers, whose statuses the tests write.
type Cluster struct {
	*stack.Stack
	T *testing.T
}

// Start starts an API server that ends with the test, without Winnow's definitions.
func Start(t *testing.T, options stack.Options) *Cluster {
	t.Helper()
	options.Progress = os.Stderr
	s, err := stack.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &Cluster{s, t}
}

// StartWithWinnow starts an API server with Winnow's definitions.
func StartWithWinnow(t *testing.T) *Cluster {
	t.Helper()
	c := Start(t, stack.Options{})
	c.Install()
	return c
}

// Install applies Winnow's definitions.
func (c *Cluster) Install() {
	c.T.Helper()
	if err := c.ApplyPath(c.T.Context(), "config/crd/bases"); err != nil {
		c.T.Fatal(err)
	}
}

// Run runs a subtest with a share of the cluster.
func (c *Cluster) Run(name string, test func(*Cluster)) {
	c.T.Run(name, func(t *testing.T) { test(&Cluster{c.Stack, t}) })
}

// ApplyAll applies manifests, and then the statuses in them.
func (c *Cluster) ApplyAll(manifests string) {
	c.T.Helper()
	if err := c.Apply(c.T.Context(), []byte(manifests)); err != nil {
		c.T.Fatal(err)
	}
	for document := range strings.SplitSeq(manifests, "\n---\n") {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			c.T.Fatal(err)
		}
		if status := object.Object["status"]; status != nil {
			if err := c.Report(c.T.Context(), object.GroupVersionKind(), client.ObjectKeyFromObject(&object), status); err != nil {
				c.T.Fatal(err)
			}
		}
	}
}

// Report writes a status.
func (c *Cluster) Report(ctx context.Context, kind schema.GroupVersionKind, key types.NamespacedName, status any) error {
	content, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	object := ObjectOf(kind, key)
	return c.Client().Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, content))
}

// Key returns the name of the selection apps in a namespace.
func (*Cluster) Key(namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: "apps"}
}

// ObjectOf returns an object with only its kind and name.
func ObjectOf(kind schema.GroupVersionKind, key types.NamespacedName) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	return object
}

// Apps returns the live selection of that name in a namespace.
func (c *Cluster) Apps(namespace string) *unstructured.Unstructured {
	c.T.Helper()
	object := ObjectOf(SelectionGVK, c.Key(namespace))
	if err := c.Client().Get(c.T.Context(), c.Key(namespace), object); err != nil {
		c.T.Fatal(err)
	}
	return object
}

// Play plays a controller until stop is called, or the test ends: it answers each new request, in the annotation of an object, with
// the status, to which it adds what all controllers report. Ready is "True", or the message why not.
func (c *Cluster) Play(kind schema.GroupVersionKind, namespace, name, ready string, status map[string]any) (stop func()) {
	ctx, cancel := context.WithCancel(c.T.Context())
	var done sync.WaitGroup
	stop = func() { cancel(); done.Wait() }
	c.T.Cleanup(stop)
	key := types.NamespacedName{Namespace: namespace, Name: name}
	done.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for handled := ""; ; {
			object := ObjectOf(kind, key)
			err := c.Client().Get(ctx, key, object)
			if requested := object.GetAnnotations()[meta.ReconcileRequestAnnotation]; err == nil && requested != handled {
				answer := answerTo(object, requested, ready)
				for field, value := range status {
					answer[field] = value
				}
				if c.Report(ctx, kind, key, answer) == nil {
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

// On runs a verb on the cluster.
func (c *Cluster) On(args ...string) clitest.Execution {
	c.T.Helper()
	if args[0] == "__complete" {
		return clitest.Execute(c.T.Context(), args...)
	}
	flags := []string{args[0], "--kubeconfig", c.Kubeconfig(), "--timeout", "20s"}
	return clitest.Execute(c.T.Context(), append(flags, args[1:]...)...)
}

// Expect runs a verb on the cluster and compares its exit code, its output, and a part of stderr.
func (c *Cluster) Expect(code int, stdout, stderr string, args ...string) {
	c.T.Helper()
	got := c.On(args...)
	if got.Code != code || got.Stdout != stdout || !strings.Contains(got.Stderr, stderr) || stderr == "" && got.Stderr != "" {
		c.T.Errorf("%v: exit code %d, want %d\nstdout:\n%s\nwant:\n%s\nstderr:\n%s\nwant:\n%s", args, got.Code, code, got.Stdout, stdout, got.Stderr, stderr)
	}
}
