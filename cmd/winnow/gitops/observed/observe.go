// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"context"
	"slices"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt/pulling"
	"github.com/winnow-dev/winnow/render/each"
)

// Stage is a stage of a commit with its clusters.
type Stage struct {
	stages.Placed

	// Label is what Cluster.Stage gets.
	Label    string
	Clusters []stages.Cluster
}

// Observer reads the receipts of clusters.
type Observer struct {
	// Rendered has the artifacts of the stages.
	Rendered *promotions.Registry
	Git      repository.Git
	// Commit names the digests of the stages, also by its history.
	Commit string
	Now    time.Time
	// MaxAge is the age from which on a receipt is stale.
	MaxAge time.Duration
}

// ClustersOf returns the clusters of all stages, in their order.
func ClustersOf(all []Stage) (clusters []stages.Cluster) {
	return slices.Concat(each.Map(all, func(s Stage) []stages.Cluster { return s.Clusters })...)
}

// Observe returns what the clusters of stages have applied, by their receipts, which are in the order of ClustersOf. The error is of
// the context, or of the history of a stage.
func (o Observer) Observe(ctx context.Context, all []Stage, receipts []pulling.Result) ([]*Cluster, error) {
	var found []*Cluster
	for _, s := range all {
		var clusters []*Cluster
		for _, of := range s.Clusters {
			c := &Cluster{Name: of.Name, Stage: s.Label, Wanted: s.Digest, Problems: []Problem{}}
			c.failed(receipts[0])
			if receipts[0].Err == nil {
				c.read(receipts[0].Receipt, s.Placed, o.Now, o.MaxAge)
			}
			clusters, receipts = append(clusters, c), receipts[1:]
		}
		err := nameDigests(clusters, o.Git.IsShallow(ctx), func(digests map[string]bool) (map[string]bool, error) {
			return stages.Named(ctx, o.Git, o.Commit, s.Placed, digests)
		})
		if err == nil {
			err = compareContents(ctx, s.Placed, clusters, o.Rendered)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, clusters...)
	}
	return found, nil
}
