// SPDX-License-Identifier: Apache-2.0

// Package pulling pulls the receipts of clusters from a registry. It must not know what a verb does with them.
package pulling

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/errdef"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
)

// Bounds of a run, unless flags have others: MaxAge is the age from which on a receipt is stale.
const (
	MaxAge  = time.Hour
	Timeout = 2 * time.Minute
	// maxPulls bounds the requests at a time, and pullTime the time of one receipt.
	maxPulls = 16
	pullTime = 20 * time.Second
)

// Result is the receipt of a cluster, or why there is none.
type Result struct {
	Receipt *receipt.Receipt
	Err     error
}

// IsMissing reports whether the registry has no receipt of the cluster, or does not show it.
func (r Result) IsMissing() bool { return errors.Is(r.Err, errdef.ErrNotFound) }

// IsForged reports whether the registry has something else.
func (r Result) IsForged() bool {
	var other *oci.OtherError
	var forgery *receipt.ForgedError
	return errors.As(r.Err, &other) || errors.As(r.Err, &forgery)
}

// Pull reads the receipts of all clusters, in their order, within a time, and the one of a cluster that comes twice once. It fails only
// if the context ends.
func Pull(ctx context.Context, below *oci.Repository, clusters []stages.Cluster, now time.Time, timeout time.Duration) ([]Result, error) {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var pulls errgroup.Group
	pulls.SetLimit(maxPulls)
	all := make([]Result, len(clusters))
	first, again := map[string]int{}, map[int]int{}
	for i, known := range clusters {
		if j, isKnown := first[known.Name]; !isKnown {
			first[known.Name] = i
		} else if known.Key.Equal(clusters[j].Key) {
			again[i] = j
			continue
		}
		pulls.Go(func() error {
			all[i].Receipt, all[i].Err = pull(bounded, below, known, now)
			return nil
		})
	}
	_ = pulls.Wait() // each failure is in a result
	for i, j := range again {
		all[i] = all[j]
	}
	return all, ctx.Err()
}

func pull(ctx context.Context, below *oci.Repository, of stages.Cluster, now time.Time) (*receipt.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, pullTime)
	defer cancel()
	at, err := below.At(of.Name)
	if err != nil {
		return nil, err
	}
	envelope, err := at.PullSmall(ctx, oci.Small{ArtifactType: receipt.ArtifactType, LayerType: receipt.LayerType, Most: receipt.MaxBytes})
	if err != nil {
		return nil, err
	}
	return receipt.Open(ctx, envelope, of.Key, of.Name, now)
}
