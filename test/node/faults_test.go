// SPDX-License-Identifier: Apache-2.0

//go:build node

package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// install installs the manifests of a release with one pod, and returns what is applied.
func install(t *testing.T) state {
	t.Helper()
	apply(t, "install.yaml")
	startPipeline(t)
	return awaitApplied(t, "of the test")
}

// TestThePodHasOnlyWhatItNeeds reads from the kernel what the security context of the pod has become.
func TestThePodHasOnlyWhatItNeeds(t *testing.T) {
	install(t)
	pod := onlyPod(t)
	if restarts := pod.Status.ContainerStatuses[0].RestartCount; restarts != 0 {
		t.Errorf("%d restarts, want none", restarts)
	}
	process := fmt.Sprintf("/proc/%d", processOf(t, pod.UID))
	status, err := os.ReadFile(process + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Uid:\t65532\t65532\t65532\t65532", "Groups:\t1337", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2",
	} {
		if !strings.Contains(string(status), "\n"+want) {
			t.Errorf("the process has not %q:\n%s", want, status)
		}
	}
	mounts, err := os.ReadFile(process + "/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); fields[1] == "/" && !strings.HasPrefix(fields[3], "ro,") {
			t.Errorf("the root is %s", line)
		}
	}
}

// TestKilled kills the process. Its archives stay in the volume of the pod.
func TestKilled(t *testing.T) {
	before := install(t)
	pod := onlyPod(t)
	if err := syscall.Kill(processOf(t, pod.UID), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitTerminated(t, "Error")
	awaitRollout(t, winnow)
	assertSame(t, before, awaitApplied(t, "of the test"))
	if now := onlyPod(t); now.UID != pod.UID {
		t.Errorf("pod %s was replaced by %s", pod.UID, now.UID)
	}
	release(t, "killed", nil)
	assertSameObjects(t, before, awaitApplied(t, "killed"))
}

// awaitTerminated waits until the container has ended for a reason.
func awaitTerminated(t *testing.T, reason string) {
	t.Helper()
	await(t, "the container has ended: "+reason, func(ctx context.Context) error {
		live, err := pods(ctx)
		if err != nil {
			return err
		}
		for _, pod := range live {
			for _, container := range pod.Status.ContainerStatuses {
				for _, state := range []corev1.ContainerState{container.LastTerminationState, container.State} {
					if state.Terminated != nil && state.Terminated.Reason == reason {
						return nil
					}
				}
			}
			err = errors.Join(err, fmt.Errorf("%+v", pod.Status.ContainerStatuses))
		}
		return errors.Join(err, errors.New("no such container"))
	})
}

// TestOutOfMemory publishes a catalog that needs more memory than the container has. The archive of the last good one stays
// where it is, and the next good one is published.
func TestOutOfMemory(t *testing.T) {
	before := install(t)
	patchTemplate(t, `{"spec": {"containers": [{"name": "manager", "resources": {"limits": {"memory": "64Mi"}}}]}}`)
	awaitRollout(t, winnow)
	assertSame(t, before, awaitApplied(t, "of the test"))
	release(t, "large", largeApplications(120))
	awaitTerminated(t, "OOMKilled")
	now, err := read(t.Context(), "of the test")
	if err != nil {
		t.Fatal(err)
	}
	assertSame(t, before, now)
	release(t, "small", nil)
	assertSameObjects(t, before, awaitApplied(t, "small"))
}

// largeApplications returns the files of n applications with nearly a megabyte of values each.
func largeApplications(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("large-%d", i)
		values := strings.Repeat("    key: "+name+" has a value that fills a line of these values\n", 12_000)
		files["applications/"+name+"/application.yaml"] = `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: ` + name + `}
spec:
  method: helm
  defaultValuesBlock: |
    list: |
  ` + values + `  versions:
  - version: 1.0.0
    template: {source: {helm: {url: https://charts.example.com, chartName: large, chartVersion: 1.0.0}}}
`
		files["applications/"+name+"/metadata.yaml"] = "tier: gold\n"
	}
	return files
}

// TestAFullVolume fills the volume of the archives: what it has stays served, and with room again the next archive is.
func TestAFullVolume(t *testing.T) {
	before := install(t)
	patchTemplate(t, `{"spec": {"volumes": [{"name": "data", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}]}}`)
	awaitRollout(t, winnow)
	assertSame(t, before, awaitApplied(t, "of the test"))
	filler := fill(t, fmt.Sprintf("/proc/%d/root/data", processOf(t, onlyPod(t).UID)))
	release(t, "full", nil)
	awaitReason(t, v1alpha1.StorageFailedReason)
	now, err := read(t.Context(), "of the test")
	if err = errors.Join(err, download(t.Context(), now.artifact)); err != nil {
		t.Fatal(err)
	}
	assertSame(t, before, now)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	assertSameObjects(t, before, awaitApplied(t, "full"))
}

// fill writes a file until the volume is full, and returns its path.
func fill(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "filler")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling %s: %v", dir, err)
	}
	return path
}
