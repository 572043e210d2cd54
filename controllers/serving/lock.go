// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock is the lease of the leader. The identity of its holder has the address that the leader serves archives at, so that
// the others need no right but that on leases to find it.
type Lock struct {
	resourcelock.Interface
	own string
	now func() time.Time

	mu     sync.Mutex
	record resourcelock.LeaderElectionRecord
	seen   time.Time // when this process has first read the record: the clock of another node may differ
}

// LockOptions configure NewLock. All fields but Address are required.
type LockOptions struct {
	Namespace, Name string
	Config          *rest.Config
	RenewDeadline   time.Duration
	// Address is the IP:PORT that this process serves archives at, for other pods. Without it, they do not find it.
	Address string
}

// NewLock returns a lease with an identity of this process.
func NewLock(o LockOptions) (*Lock, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	identity := strings.Join([]string{host, o.Address, string(uuid.NewUUID())}, separator)
	lease, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, o.Namespace, o.Name,
		resourcelock.ResourceLockConfig{Identity: identity}, o.Config, o.RenewDeadline)
	if err != nil {
		return nil, err
	}
	return &Lock{Interface: lease, own: o.Address, now: time.Now}, nil
}

// separator is between the parts of an identity.
const separator = "_"

// Get reads the lease and remembers its holder. A process that does not lead calls it in each retry period.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if *record != l.record {
			l.record, l.seen = *record, l.now()
		}
	}
	return record, raw, err
}

// Leader returns the address of another process that leads; empty if there is none whose lease is valid.
func (l *Lock) Leader() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.now().Before(l.seen.Add(time.Duration(l.record.LeaseDurationSeconds) * time.Second)) {
		return ""
	}
	parts := strings.Split(l.record.HolderIdentity, separator)
	address := parts[max(0, len(parts)-2)]
	if address == l.own { // this pod, before its container was restarted
		return ""
	}
	if parsed, err := netip.ParseAddrPort(address); err != nil || !l.mayBePod(parsed.Addr()) { // a version that does not set it
		return ""
	}
	return address
}

// mayBePod reports whether a pod may have an address. Who may write the lease could lead requests to services of the node, or of
// its cloud, that only listen where no pod is. Processes on one machine, as in tests, have addresses of its loopback.
func (l *Lock) mayBePod(address netip.Addr) bool {
	own, _ := netip.ParseAddrPort(l.own)
	return address.IsGlobalUnicast() || own.Addr().IsLoopback() && address.IsLoopback()
}

// PodAddress returns the IP:PORT at which other pods reach a server of this pod that listens on an address; empty if the
// IP of the pod is not known.
func PodAddress(ip, listening string) (string, error) {
	_, port, err := net.SplitHostPort(listening)
	if err != nil {
		return "", fmt.Errorf("reading --storage-addr: %w", err)
	}
	if ip == "" {
		return "", nil
	}
	address := net.JoinHostPort(ip, port)
	if _, err := netip.ParseAddrPort(address); err != nil {
		return "", fmt.Errorf("reading the IP of the pod and --storage-addr: %w", err)
	}
	return address, nil
}
