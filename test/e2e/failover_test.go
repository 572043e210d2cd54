// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/test/stack"
)

// replicas are two controllers behind one address, as behind a Service, instead of the one of all other tests.
type replicas struct {
	*scenario
	service, source *gate
	lease           []string

	mu      sync.Mutex
	running []*stack.Controller
	turn    int
}

// shortLease are the flags that a test waits for; WINNOW_FAILOVER_LEASE=default measures those of an installation.
var shortLease = []string{
	"--leader-election-lease-duration=5s", "--leader-election-renew-deadline=4s", "--leader-election-retry-period=1s",
}

// TestFailover kills the leader while it publishes, and stops the next one. It measures how long it takes until the next
// revision can be downloaded, and is applied.
func TestFailover(t *testing.T) {
	r := newReplicas(t)
	s := newScenario(t, "failover", catalogOf("failover"), nil)
	r.scenario = s
	uids := r.awaitRelease("a")
	r.assertAllServe()

	killed := r.publish("killed", func(leader *stack.Controller) error { return leader.Kill() })
	if now := r.awaitRelease("killed"); !maps.Equal(uids, now) {
		t.Errorf("objects were deleted: %v are %v", uids, now)
	}
	r.start()
	r.assertAllServe()

	stopped := r.publish("stopped", func(leader *stack.Controller) error { return leader.Stop() })
	if now := r.awaitRelease("stopped"); !maps.Equal(uids, now) {
		t.Errorf("objects were deleted: %v are %v", uids, now)
	}
	// go test hides the output of t.Log while the test passes.
	fmt.Fprintf(os.Stderr, "failover: leader killed while it published: next publication after %.1f s; stopped: after %.1f s\n",
		killed.Seconds(), stopped.Seconds())
}

// newReplicas stops the controller, and starts two behind a service.
func newReplicas(t *testing.T) *replicas {
	t.Helper()
	r := &replicas{scenario: &scenario{t: t, name: "failover"}, lease: shortLease}
	if os.Getenv("WINNOW_FAILOVER_LEASE") == "default" {
		r.lease = nil
	}
	r.service, r.source = newGate(t, "service", r.endpoint), newGate(t, stack.SourceController, system.SourceHost)
	if err := system.controller.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var err error
		for _, c := range r.running {
			err = errors.Join(err, c.Stop())
		}
		if err = errors.Join(err, system.restart(context.WithoutCancel(t.Context()), stack.ControllerOptions{})); err != nil {
			t.Fatal(err)
		}
	})
	r.start()
	r.start()
	return r
}

// start starts one more controller.
func (r *replicas) start() {
	r.t.Helper()
	c, err := system.StartController(r.t.Context(), stack.ControllerOptions{
		Args:        append([]string{"--enable-leader-election", "--storage-adv-addr=" + r.service.host(), settleDelay}, r.lease...),
		Env:         []string{"POD_IP=127.0.0.1", "SOURCE_CONTROLLER_LOCALHOST=" + r.source.host()},
		Binary:      system.binary,
		StorageAddr: unusedAddress(r.t),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = append(r.running, c)
}

// unusedAddress returns a HOST:PORT that was free a moment ago.
func unusedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// endpoint returns the next controller that is Ready, as a Service selects it.
func (r *replicas) endpoint() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range r.running {
		r.turn++
		c := r.running[r.turn%len(r.running)]
		if isReady(c) {
			return c.StorageAddr
		}
	}
	return "127.0.0.1:1" // refuses connections
}

// isReady probes a controller as the kubelet does.
func isReady(c *stack.Controller) bool {
	response, err := http.Get("http://" + c.StorageAddr + "/")
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// assertAllServe waits until each controller is Ready, and serves the archive.
func (r *replicas) assertAllServe() {
	r.t.Helper()
	_, ea, _, err := r.live(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	artifact := ea.Status.Artifact
	for _, c := range r.running {
		url := strings.Replace(artifact.URL, r.service.host(), c.StorageAddr, 1)
		r.await(c.Name()+" serves the archive", func(ctx context.Context) error {
			if got := r.download(ctx, url); got != artifact.Digest || !isReady(c) {
				return fmt.Errorf("%s serves %s", url, got)
			}
			return nil
		})
	}
}

// publish releases a catalog, ends the leader while it downloads it, and returns the time from then until the artifact can
// be downloaded from the service.
func (r *replicas) publish(release string, end func(*stack.Controller) error) time.Duration {
	r.t.Helper()
	apps := catalogOf(r.name)
	for i := range apps {
		apps[i].values = release
	}
	r.push(release, apps)
	leader, ended, before := r.leader(), make(chan struct{}), r.source.spoiled.Load()
	r.source.fault.Store(&spoiling{name: "stalled", body: func(b io.ReadCloser) io.ReadCloser { return &stalledBody{b, ended} }})
	r.point(release)
	r.await("the leader downloads "+release, func(context.Context) error {
		if r.source.spoiled.Load() == before {
			return errors.New("not yet")
		}
		return nil
	})
	start := time.Now()
	err := end(leader)
	r.source.fault.Store(nil)
	close(ended)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.running = slices.DeleteFunc(r.running, func(c *stack.Controller) bool { return c == leader })
	r.mu.Unlock()
	r.await("published "+release, func(ctx context.Context) error {
		_, ea, _, err := r.live(ctx)
		if err != nil {
			return err
		}
		return r.served(ctx, ea, release)
	})
	return time.Since(start)
}

// served returns an error if the artifact is not of a release, or cannot be downloaded.
func (r *replicas) served(ctx context.Context, ea *sourcev1.ExternalArtifact, release string) error {
	origin := ea.Status.Artifact.Metadata["org.opencontainers.image.revision"]
	if !strings.HasPrefix(origin, release+"@") {
		return fmt.Errorf("announced is %s", origin)
	}
	if got := r.download(ctx, ea.Status.Artifact.URL); got != ea.Status.Artifact.Digest {
		return fmt.Errorf("the service has %s", got)
	}
	return nil
}

// stalledBody has no bytes until the leader has ended.
type stalledBody struct {
	io.ReadCloser
	ended <-chan struct{}
}

func (b *stalledBody) Read(p []byte) (int, error) {
	<-b.ended
	return b.ReadCloser.Read(p)
}

// leader returns the controller whose address the lease has.
func (r *replicas) leader() *stack.Controller {
	r.t.Helper()
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: stack.WinnowNamespace, Name: "winnow-controller-leader-election"}
	if err := system.Client().Get(r.t.Context(), key, lease); err != nil {
		r.t.Fatal(err)
	}
	for _, c := range r.running {
		if strings.Contains(*lease.Spec.HolderIdentity, "_"+c.StorageAddr+"_") {
			return c
		}
	}
	r.t.Fatalf("%s leads", *lease.Spec.HolderIdentity)
	return nil
}

// awaitRelease waits until the definitions of a release are applied, and returns their UIDs.
func (r *replicas) awaitRelease(values string) map[string]types.UID {
	r.t.Helper()
	names := []string{r.name + "-a", r.name + "-b", r.name + "-c"}
	r.awaitApplied(names...)
	uids := map[string]types.UID{}
	r.await("applied "+values, func(ctx context.Context) error {
		live, err := r.definitions(ctx)
		if err != nil {
			return err
		}
		for _, name := range names {
			d := live[name]
			if got, _, _ := unstructured.NestedString(d.Object, "spec", "defaultValuesBlock"); !strings.Contains(got, `"`+values+`"`) && name == names[0] {
				return fmt.Errorf("%s has %s", name, got)
			}
			uids[name] = d.GetUID()
		}
		return nil
	})
	return uids
}
