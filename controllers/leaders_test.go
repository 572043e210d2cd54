// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// A leader that was frozen goes on for a moment beside the next one. Neither undoes what the other one has written.
func TestTwoLeadersDoNotUndoEachOther(t *testing.T) {
	c := newCluster(t)
	c.catalog("argocd")
	c.selection("alpha", compared, func(cs *v1alpha1.CatalogSelection) { cs.Labels = map[string]string{shardLabel: "alpha"} })
	c.consumer("alpha", "alpha", pruning)
	frozen, next := c.shard("alpha"), c.shard("alpha")
	frozen.run()
	frozen.flux("alpha", "alpha", "argocd")
	frozen.run()
	c.catalog("argocd", "nginx")
	next.run()
	next.run()
	c.bypass("argocd")
	var writes []string
	for range 10 {
		for _, s := range []*shard{frozen, next} {
			s.awaitCaches()
			s.run()
			writes = append(writes, s.traffic.taken()...)
		}
		if len(writes) == 0 {
			return
		}
		t.Log(writes)
		writes = nil
	}
	t.Error("both write without end")
}
