// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"context"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt/pulling"
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
	// Pull returns the receipts of clusters, in their order, and Rendered has the artifacts of the stages.
	Pull     func(ctx context.Context, clusters []stages.Cluster) ([]pulling.Result, error)
	Rendered *promotions.Registry
	Git      repository.Git
	// Commit names the digests of the stages, also by its history.
	Commit string
	Now    time.Time
	// MaxAge is the age from which on a receipt is stale.
	MaxAge time.Duration
}

// Observe returns the clusters of stages, in their order. The error is of the context, or of the history of a stage.
func (o Observer) Observe(ctx context.Context, all []Stage) ([]*Cluster, error) {
	var known []stages.Cluster
	for _, s := range all {
		known = append(known, s.Clusters...)
	}
	pulled, err := o.Pull(ctx, known)
	if err != nil {
		return nil, err
	}
	var found []*Cluster
	for _, s := range all {
		var clusters []*Cluster
		for _, of := range s.Clusters {
			c := &Cluster{Name: of.Name, Stage: s.Label, Wanted: s.Digest, Problems: []Problem{}}
			c.failed(pulled[0])
			if pulled[0].Err == nil {
				c.read(pulled[0].Receipt, s.Placed, o.Now, o.MaxAge)
			}
			clusters, pulled = append(clusters, c), pulled[1:]
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
