// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// placement is a pair whose states are rendered, with its applications before and after.
type placement struct {
	*pair
	before, after map[safeguard.Key]safeguard.Definition
	// out is the change of the pair, which the pair itself lacks if the selection is the same in both commits.
	out *diff.Selection
	// pushed reports that either state has spec.push, prune that Flux may delete objects that leave, and suspended that the newer
	// state claims nothing.
	pushed, prune, suspended bool
	// adopted are what definitions that enter from another selection would lose.
	adopted []safeguard.Change
}

// placementOf returns the placement of a pair with its change.
func placementOf(p *pair, out *diff.Selection) placement {
	from, to := p.from.side(), p.to.side()
	placed := placement{pair: p, out: out, before: applicationsOf(from), after: applicationsOf(to)}
	placed.suspended = to != nil && to.Selection.Spec.Suspend
	for _, side := range []*comparing.Side{from, to} {
		placed.pushed = placed.pushed || side != nil && side.Selection.Spec.Push != nil
	}
	placed.prune = from != nil && from.Selection.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyDelete
	return placed
}

// applicationsOf returns the definitions that a state publishes.
func applicationsOf(side *comparing.Side) map[safeguard.Key]safeguard.Definition {
	published := map[safeguard.Key]safeguard.Definition{}
	if side == nil || side.Empty != nil {
		return published
	}
	for _, d := range side.Result.Definitions {
		published[d.Key()] = d
	}
	return published
}

// claiming returns the placements of selections that are the same in both commits, and may have in the base what others lose or get:
// they are applied to the cluster of a selection in which applications enter or leave.
func (c *comparison) claiming(ctx context.Context, placements []placement) (found []placement) {
	clusters := map[string]bool{}
	for _, p := range placements {
		if len(p.lost())+len(p.entering()) > 0 {
			clusters[p.any().KnownCluster()] = true
		}
	}
	for _, p := range c.pairs {
		if at := p.any().KnownCluster(); at == "" || !clusters[at] || p.out != nil {
			continue
		}
		_, errBefore := c.rendered(ctx, p.from)
		side, errAfter := c.rendered(ctx, p.to)
		if errBefore == nil && errAfter == nil { // one that cannot be rendered is not known to claim anything
			found = append(found, placementOf(p, comparing.Unchanged(side)))
		}
	}
	return found
}

// lost returns the definitions that leave, and entering the ones that enter.
func (p placement) lost() map[safeguard.Key]safeguard.Definition { return lacking(p.before, p.after) }
func (p placement) entering() map[safeguard.Key]safeguard.Definition {
	return lacking(p.after, p.before)
}

// lacking returns the definitions that others lack.
func lacking(all, others map[safeguard.Key]safeguard.Definition) map[safeguard.Key]safeguard.Definition {
	found := maps.Clone(all)
	maps.DeleteFunc(found, func(key safeguard.Key, _ safeguard.Definition) bool { _, has := others[key]; return has })
	return found
}

// noteConflicts notes the applications that enter a selection, and that another one of the cluster keeps.
func noteConflicts(placements []placement) {
	for _, p := range placements {
		for _, holder := range placements {
			if at := p.any().KnownCluster(); at == "" || at != holder.any().KnownCluster() || holder.pair == p.pair {
				continue
			}
			var names []string
			for key, d := range p.entering() {
				_, had := holder.before[key]
				if _, keeps := holder.after[key]; had && keeps {
					names = append(names, d.Name)
				}
			}
			if slices.Sort(names); len(names) > 0 {
				p.out.Notes = append(p.out.Notes, fmt.Sprintf("%s/%s keeps %s: this selection is stalled (Conflict), and publishes nothing, while it does",
					holder.out.Namespace, holder.out.Name, excerpt.Names(slices.Compact(names), maxListed)))
			}
		}
	}
}

// findMoves adds to the selection that an application leaves a move to each selection that has it then: it enters that one, or is
// claimed by it already, which is known in one cluster alone. The cluster of a plain file is unknown, so it uses the receivers whose
// files share most directories with the file of the giver.
func findMoves(placements []placement) {
	having := map[safeguard.Key][]*placement{}
	for i, p := range placements {
		for key := range p.after {
			if _, had := p.before[key]; !p.suspended && (!had || p.any().KnownCluster() != "") {
				having[key] = append(having[key], &placements[i])
			}
		}
	}
	for _, giver := range placements {
		var moved []diff.Move
		for key, d := range giver.lost() {
			for _, receiver := range nearestTo(giver, having[key]) {
				receiver.adopted = append(receiver.adopted, safeguard.Adopt([]safeguard.Definition{d}, []safeguard.Definition{receiver.after[key]})...)
				moved = append(moved, diff.Move{
					Application: d.Name, APIVersion: d.APIVersion, Kind: d.Kind,
					To: receiver.out.Namespace + "/" + receiver.out.Name, ToFile: receiver.any().File,
					Unprotected: giver.prune && (giver.pushed || receiver.pushed),
				})
			}
		}
		slices.SortFunc(moved, compareMoves)
		for _, m := range moved {
			if !m.Unprotected {
				giver.out.Moved(m.Application)
			}
		}
		giver.out.Moves = append(giver.out.Moves, moved...)
	}
}

// nearestTo returns the placements in the cluster of the giver, or for plain files the placements that share most directories
// with the giver.
func nearestTo(giver placement, all []*placement) []*placement {
	return documents.Best(all, func(p *placement) int {
		sameName := p.out.Namespace == giver.out.Namespace && p.out.Name == giver.out.Name
		switch {
		case p.any().Cluster != giver.any().Cluster || sameName: // no cluster has two of a name
			return -1
		case giver.any().Cluster != "": // two of them without a Kustomization may be of two clusters
			return 0
		}
		return documents.CommonDirectories(giver.any().File, p.any().File)
	})
}

// holdAdopted holds what definitions lose by the selections that they enter.
func holdAdopted(placements []placement) {
	for _, p := range placements {
		if len(p.adopted) > 0 {
			p.pair.out = p.out
			safeguard.Sort(p.adopted)
			comparing.HoldAdopted(p.out, p.from.side(), p.to.side(), p.adopted)
		}
	}
}

// nameReceivers adds the receivers of moves to what is held of the givers.
func nameReceivers(placements []placement) {
	for _, p := range placements {
		if p.out.Held == nil {
			continue
		}
		for _, m := range p.out.Moves {
			for i, r := range p.out.Held.Reasons {
				if r.Reason == v1alpha1.RemovalReason && r.Instance == "" && r.Application == m.Application {
					p.out.Held.Reasons[i].Message += "; it moves to " + m.To
				}
			}
		}
	}
}

func compareMoves(a, b diff.Move) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.ToFile, b.ToFile), cmp.Compare(a.Application, b.Application),
		cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
}
