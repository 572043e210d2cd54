// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt/pulling"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
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

// compareContents compares what the clusters of a stage have with the artifacts that they have applied. What runs another digest than
// Git names has a problem already.
func compareContents(ctx context.Context, of stages.Placed, clusters []*Cluster, registry *promotions.Registry) error {
	for _, c := range clusters {
		switch {
		case c.Receipt == nil || c.Digest == "" || c.Wanted != "" && c.Digest != c.Wanted:
			continue
		case slices.ContainsFunc(c.kustomizations, func(k receipt.Kustomization) bool { return k.Digest != c.Digest }):
			c.add(unknown, "its Kustomizations have applied different artifacts: wait until they have the same")
			continue
		case of.URL == "":
			c.add(unknown, of.File+" has no spec.url: the artifact cannot be read")
			continue
		}
		artifact, err := registry.Pull(ctx, documents.Reference{Catalog: of.URL + "@" + c.Digest, PlainHTTP: of.Insecure})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.add(unknown, excerpt.To(redact.Text(err.Error()), maxMessage))
		case artifact.Result == nil:
			c.add(unknown, "the artifact is none that Winnow has rendered: "+artifact.Other)
		default:
			c.compareObjects(artifact.Result.Live())
		}
	}
	return nil
}

// applied is what the Kustomizations of a stage have applied, and the live definitions, by a receipt.
type applied struct {
	// inventory is nil where it is not known.
	inventory map[string]bool
	live      map[safeguard.Key]receipt.Definition
	// isWhole is true if no live definition is left out.
	isWhole bool
}

// compareObjects compares the objects of an artifact with the inventories of the Kustomizations, and with the live definitions.
func (c *Cluster) compareObjects(want []safeguard.Definition) {
	const maxChanges, maxObjects = 5, 5
	has := applied{map[string]bool{}, map[safeguard.Key]receipt.Definition{}, c.Receipt.Omitted == 0}
	for _, k := range c.kustomizations {
		if len(k.Changes) > 0 {
			c.add(unknown, fmt.Sprintf("the Kustomization %s/%s has %s: it does not apply the artifact as it is", k.Namespace, k.Name, excerpt.Names(k.Changes, maxChanges)))
			return
		}
		for _, id := range k.Objects {
			has.inventory[id] = true
		}
	}
	if slices.ContainsFunc(c.kustomizations, func(k receipt.Kustomization) bool { return k.Objects == nil }) {
		has.inventory = nil
		c.add(unknown, "the receipt has no inventory: it is of an older winnow, or has too many objects")
	}
	for _, d := range c.Receipt.Definitions {
		has.live[safeguard.Definition{APIVersion: d.APIVersion, Kind: d.Kind, Name: d.Name}.Key()] = d
	}
	var differences, bypasses []string
	for _, d := range want {
		differs, found := has.difference(d), has.live[d.Key()]
		switch {
		case found.Bypassed:
			bypasses = append(bypasses, strings.TrimSpace(d.Name+" "+since(found)+" "+differs))
		case differs != "":
			differences = append(differences, d.Name+" "+differs)
		}
	}
	c.addAll(differing, differences, maxObjects)
	c.addAll(bypassed, bypasses, maxObjects)
}

// difference returns how an object differs; nothing if it does not, or that is not known.
func (a applied) difference(want safeguard.Definition) string {
	found, lives := a.live[want.Key()]
	switch {
	case a.inventory != nil && !a.inventory[receipt.ObjectID(want.Key())]:
		return "is not applied"
	case lives && !isSame(found.Versions, want.Versions):
		return fmt.Sprintf("has %s instead of %s", versions(found.Versions), versions(want.Versions))
	case !lives && want.Key().IsDefinition() && a.inventory != nil && a.isWhole:
		return "is deleted"
	}
	return ""
}

// isSame reports whether two lists have the same versions, in any order.
func isSame(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func versions(all []string) string {
	const most, maxVersion = 4, 64
	if len(all) == 0 {
		return "no versions"
	}
	return excerpt.List(all, most, func(version string) string { return excerpt.To(version, maxVersion) })
}

func since(d receipt.Definition) string {
	if d.BypassedSince == nil {
		return "since unknown"
	}
	return "since " + d.BypassedSince.UTC().Format(time.DateOnly)
}
