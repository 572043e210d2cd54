// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// compareContents compares what the clusters of a stage have with the artifacts that they have applied. What runs another digest than
// Git names has a problem already.
func compareContents(ctx context.Context, of stages.Placed, clusters []*Cluster, registry *promotions.Registry) error {
	for _, c := range clusters {
		switch {
		case c.Receipt == nil || c.Digest == "" || c.isElsewhere():
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
			c.add(unknown, redact.Text(excerpt.To(err.Error(), maxMessage)))
		case artifact.Result == nil:
			c.add(unknown, "the artifact is none that Winnow has rendered: "+artifact.Other)
		default:
			c.compareObjects(artifact.Result.Live())
		}
	}
	return nil
}

// compareObjects compares the objects of an artifact with the inventories of the Kustomizations, and with the live definitions.
func (c *Cluster) compareObjects(want []safeguard.Definition) {
	inventory := map[string]bool{}
	isListed := true
	for _, k := range c.kustomizations {
		if len(k.Changes) > 0 {
			c.add(unknown, fmt.Sprintf("the Kustomization %s/%s has %s: it does not apply the artifact as it is", k.Namespace, k.Name, strings.Join(k.Changes, ", ")))
			return
		}
		isListed = isListed && k.Objects != nil
		for _, id := range k.Objects {
			inventory[id] = true
		}
	}
	if !isListed {
		c.add(unknown, "the receipt has no inventory: it is of an older winnow, or has too many objects")
	}
	live := map[safeguard.Key]receipt.Definition{}
	for _, d := range c.Receipt.Definitions {
		live[safeguard.Definition{APIVersion: d.APIVersion, Kind: d.Kind, Name: d.Name}.Key()] = d
	}
	var differences, bypasses []string
	for _, d := range want {
		found, lives := live[d.Key()]
		differs := ""
		switch {
		case isListed && !inventory[receipt.ObjectID(d.Key())]:
			differs = "is not applied"
		case lives && !isSame(found.Versions, d.Versions):
			differs = fmt.Sprintf("has %s instead of %s", versions(found.Versions), versions(d.Versions))
		case !lives && d.Key().IsDefinition() && isListed && c.Receipt.Omitted == 0:
			differs = "is deleted"
		}
		switch {
		case found.Bypassed:
			bypasses = append(bypasses, strings.TrimSpace(d.Name+" "+since(found)+" "+differs))
		case differs != "":
			differences = append(differences, d.Name+" "+differs)
		}
	}
	const most = 5
	if len(differences) > 0 {
		c.add(differing, excerpt.Clauses(differences, most, 0, strings.Clone))
	}
	if len(bypasses) > 0 {
		c.add(bypassed, excerpt.Clauses(bypasses, most, 0, strings.Clone))
	}
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
