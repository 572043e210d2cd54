package main

import (
	"context"

	"github.com/winnow-dev/winnow/render/diff"
)

// liveCluster is the cluster of --live.
type liveCluster struct{}

// compareSides compares two states, with the cluster if there is one.
func compareSides(ctx context.Context, _ *liveCluster, from, to *diff.Side) (*diff.Selection, error) {
	return diff.Compare(ctx, from, to, nil)
}
