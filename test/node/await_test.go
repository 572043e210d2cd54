// SPDX-License-Identifier: Apache-2.0

//go:build node

package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/stack"
)

// patience bounds every wait for a state: the kubelet starts a container that fails again after up to 80 s.
const (
	patience = 3 * time.Minute
	pulse    = 200 * time.Millisecond
)

// await polls until check returns no error.
func await(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), pulse, patience, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		if err != nil && ctx.Err() == nil { // otherwise the error is only the end of patience
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v: %v", what, err, last)
	}
}

// awaitRollout waits until all pods of a Deployment are those of its template, and Ready.
func awaitRollout(t *testing.T, key client.ObjectKey) {
	t.Helper()
	await(t, key.Name+" is rolled out", func(ctx context.Context) error {
		d := &appsv1.Deployment{}
		if err := system.Client().Get(ctx, key, d); err != nil {
			return err
		}
		status, want := d.Status, *d.Spec.Replicas
		if status.ObservedGeneration != d.Generation || status.UpdatedReplicas != want || status.Replicas != want || status.AvailableReplicas != want {
			return fmt.Errorf("want %d replicas: %+v", want, status)
		}
		return nil
	})
}

var winnow = client.ObjectKey{Namespace: stack.WinnowNamespace, Name: stack.WinnowController}

// pods lists the pods of Winnow that are not being deleted.
func pods(ctx context.Context) (live []corev1.Pod, err error) {
	list := &corev1.PodList{}
	err = system.Client().List(ctx, list, client.InNamespace(winnow.Namespace), client.MatchingLabels{"app": winnow.Name})
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			live = append(live, pod)
		}
	}
	return live, err
}

// onlyPod returns Winnow's pod, of which there is one.
func onlyPod(t *testing.T) corev1.Pod {
	t.Helper()
	live, err := pods(t.Context())
	if err != nil || len(live) != 1 {
		t.Fatalf("%d pods, want one: %v", len(live), err)
	}
	return live[0]
}

// processOf returns the process of Winnow in a pod, as this machine numbers it.
func processOf(t *testing.T, pod types.UID) int {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range processes {
		cgroups, _ := os.ReadFile(filepath.Join(process, "cgroup")) // it may have ended
		program, _ := os.Readlink(filepath.Join(process, "exe"))
		if strings.Contains(string(cgroups), "pod"+string(pod)) && filepath.Base(program) == stack.WinnowController {
			number, err := strconv.Atoi(filepath.Base(process))
			if err != nil {
				t.Fatal(err)
			}
			return number
		}
	}
	t.Fatalf("no process in pod %s", pod)
	return 0
}

// patch merges a strategic merge patch into the template of Winnow's pods.
func patchTemplate(t *testing.T, template string) {
	t.Helper()
	d := &appsv1.Deployment{}
	d.Namespace, d.Name = winnow.Namespace, winnow.Name
	patch := client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec": {"template": `+template+`}}`))
	if err := system.Client().Patch(t.Context(), d, patch); err != nil {
		t.Fatal(err)
	}
}

// apply applies manifests that make e2e-node has rendered, and returns when they are rolled out.
func apply(t *testing.T, file string) {
	t.Helper()
	if err := system.ApplyPath(t.Context(), filepath.Join(*artifacts, file)); err != nil {
		t.Fatal(err)
	}
	awaitRollout(t, winnow)
}
