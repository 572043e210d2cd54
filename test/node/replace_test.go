// SPDX-License-Identifier: Apache-2.0

//go:build node

package node_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/stack"
)

// TestARollingUpdate replaces two pods one after the other, while archives are downloaded all the time.
func TestARollingUpdate(t *testing.T) {
	before := installTwo(t)
	stop := downloadAllTheTime(t, before)
	patchTemplate(t, `{"metadata": {"annotations": {"test": "rolled"}}}`)
	awaitRollout(t, winnow)
	now := awaitApplied(t, "of the test")
	stop("a rolling update")
	assertSame(t, before, now)
	live, err := pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range live {
		if restarts := pod.Status.ContainerStatuses[0].RestartCount; restarts != 0 {
			t.Errorf("%s has %d restarts", pod.Name, restarts)
		}
	}
}

// installTwo installs the manifests of a release with two pods, and returns what is applied.
func installTwo(t *testing.T) state {
	t.Helper()
	apply(t, "ha/install.yaml")
	startPipeline(t)
	return awaitApplied(t, "of the test")
}

// downloadAllTheTime downloads the archive of a publication until the returned function is called, which reports for how
// long it failed. An archive with another digest fails the test.
func downloadAllTheTime(t *testing.T, s state) (stop func(what string)) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	downloads, failures, longest, good := 0, 0, time.Duration(0), time.Now()
	var last error
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			err := download(ctx, s.artifact)
			switch {
			case ctx.Err() != nil:
			case errors.Is(err, errAltered):
				t.Error(err)
			case err != nil:
				failures, last = failures+1, err
			default:
				downloads, longest, good = downloads+1, max(longest, time.Since(good)), time.Now()
			}
		}
	}()
	return func(what string) {
		cancel()
		<-done
		longest = max(longest, time.Since(good))
		t.Logf("%s: %d downloads, %d failed; none for %s at most; last error: %v", what, downloads, failures, longest.Round(time.Millisecond), last)
	}
}

// TestADrainOfOnePod drains the node: the one pod may be evicted, and comes back once the node takes pods again.
func TestADrainOfOnePod(t *testing.T) {
	before := install(t)
	pod := onlyPod(t)
	cordon(t, true)
	defer cordon(t, false)
	if err := evict(t, pod); err != nil {
		t.Fatal(err)
	}
	await(t, "another pod waits for a node", func(ctx context.Context) error {
		live, err := pods(ctx)
		if err != nil || len(live) != 1 || live[0].UID == pod.UID || live[0].Status.Phase != corev1.PodPending {
			return fmt.Errorf("%d pods: %w", len(live), err)
		}
		return nil
	})
	now, err := read(t.Context(), "of the test")
	if err != nil {
		t.Fatal(err)
	}
	assertSame(t, before, now)
	cordon(t, false)
	awaitRollout(t, winnow)
	assertSame(t, before, awaitApplied(t, "of the test"))
}

// TestADrainOfTwoPods evicts the leader. The other one may not be evicted before there are two again, and it serves.
func TestADrainOfTwoPods(t *testing.T) {
	before := installTwo(t)
	leader, other := leaderAndOther(t)
	stop := downloadAllTheTime(t, before)
	if err := evict(t, leader); err != nil {
		t.Fatal(err)
	}
	if err := evict(t, other); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the other pod was evicted as well: %v", err)
	}
	await(t, "two pods are Ready without the leader", func(ctx context.Context) error {
		live, err := pods(ctx)
		ready := 0
		for _, pod := range live {
			if status := pod.Status.ContainerStatuses; pod.UID != leader.UID && len(status) == 1 && status[0].Ready {
				ready++
			}
		}
		if ready != 2 {
			err = errors.Join(err, fmt.Errorf("%d pods are Ready", ready))
		}
		return err
	})
	now := awaitApplied(t, "of the test")
	stop("the leader is evicted")
	assertSame(t, before, now)
	release(t, "drained", nil)
	assertSameObjects(t, before, awaitApplied(t, "drained"))
}

// leaderAndOther returns the pod that holds the lease, and the other one.
func leaderAndOther(t *testing.T) (leader, other corev1.Pod) {
	t.Helper()
	leases := &coordinationv1.LeaseList{}
	if err := system.Client().List(t.Context(), leases, client.InNamespace(winnow.Namespace)); err != nil {
		t.Fatal(err)
	}
	live, err := pods(t.Context())
	if err != nil || len(leases.Items) != 1 || len(live) != 2 {
		t.Fatalf("%d leases, %d pods: %v", len(leases.Items), len(live), err)
	}
	if strings.HasPrefix(*leases.Items[0].Spec.HolderIdentity, live[0].Name+"_") {
		return live[0], live[1]
	}
	return live[1], live[0]
}

func evict(t *testing.T, pod corev1.Pod) error {
	t.Helper()
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	return system.Client().SubResource("eviction").Create(t.Context(), &pod, eviction)
}

func cordon(t *testing.T, on bool) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: stack.NodeName}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec": {"unschedulable": %t}}`, on))
	if err := system.Client().Patch(t.Context(), node, patch); err != nil {
		t.Fatal(err)
	}
}
