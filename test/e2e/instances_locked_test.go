// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
)

// lockValue edits a value that the catalog locks, by hand and by a revision: what runs keeps it until the change is approved.
func lockValue(t *testing.T) {
	i := newInstalling(t, "locking")
	pushChart(t, "locking-charts", chartFiles("network", "1.0.0", "mode: chart\n"))
	offer := func(tag, cidr string) {
		i.offer(tag, packaged{
			name: "network", versions: []string{"1.0.0"}, metadata: "lockedValues: [pod.cidr]\n",
			fields: "  defaultVersion: 1.0.0\n  defaultValuesBlock: 'pod: {cidr: " + cidr + "}'\n",
		})
	}
	offer("v1", "10.0.0.0/16")
	offer("v1.1", "10.9.0.0/16")
	i.create(i.repository())
	selecting := func(values, more string) string {
		return i.selecting("locking", "definitions: Omit", "instances: {network: {values: {"+values+"}}}", more)
	}
	i.commit([]string{selecting("mode: a", ""), i.applying("locking", "locking")})
	first := i.awaitInstalled(map[string]string{"network": "1.0.0"})["network"]
	awaitValues := func(mode, cidr string) {
		t.Helper()
		i.await("mode "+mode+" and "+cidr, func(ctx context.Context) error {
			values := valuesOf(t, i.result(ctx, first))
			if got := fmt.Sprint(values["mode"], values["pod"]); got != fmt.Sprint(mode, map[string]any{"cidr": cidr}) {
				return fmt.Errorf("they are %s", got)
			}
			return nil
		})
	}
	const locked = `LockedValue network: instance network: the locked value "pod.cidr" would change`
	i.commit([]string{selecting("mode: b, pod: {cidr: 10.1.0.0/16}", "")})
	i.awaitHolding(locked)
	awaitValues("a", "10.0.0.0/16")
	i.commit([]string{selecting("mode: b", "")})
	awaitValues("b", "10.0.0.0/16")
	i.follow("v1.1")
	const line = "Instance/network:locked/pod.cidr"
	if cs := i.awaitHolding(locked); len(cs.Status.Held.Approve) != 1 || cs.Status.Held.Approve[0] != line {
		t.Errorf("released by %v, want %s", cs.Status.Held.Approve, line)
	}
	i.commit([]string{selecting("mode: b", naming(line))})
	awaitValues("b", "10.9.0.0/16")
}
