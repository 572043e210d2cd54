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
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// placement is a pair whose states are rendered, with its applications before and after.
type placement struct {
	*pair
	before, after map[safeguard.Key]safeguard.Definition
	// applied reports that the newer state claims what it has: it is not suspended, and a Kustomization applies its artifact. This is
	// taken for granted of a plain file, which may be far from its Kustomization. renamed reports that a Kustomization changes names:
	// then the keys are not of live objects.
	applied, renamed bool
	// unprotected reports that what moves cannot be kept: either state has spec.push, or a Kustomization a kubeConfig. prune reports that
	// Flux may delete objects that leave. What Flux does to all objects of a changed Kustomization is in pair.consumed.
	unprotected, prune bool
	// adopted are what definitions that enter from another selection would lose.
	adopted []safeguard.Change
}

// placementOf returns the placement of a pair.
func (c *comparison) placementOf(p *pair) placement {
	placed := placement{pair: p, before: applicationsOf(p.from.side()), after: applicationsOf(p.to.side())}
	for _, at := range []struct {
		commit *documents.Set
		state  *State
	}{{&c.base, p.from}, {&c.head, p.to}} {
		if at.state.side() == nil {
			continue
		}
		spec := at.state.side().Selection.Spec
		consumers := at.commit.ConsumersOf(&at.state.Selection)
		placed.applied = !spec.Suspend && !at.state.Untouched && !at.state.Suspended && (len(consumers) > 0 || at.state.KnownCluster() == "") &&
			!slices.ContainsFunc(at.state.References, func(r documents.Reference) bool { return r.Suspended || r.Untouched })
		placed.unprotected = placed.unprotected || spec.Push != nil
		for _, k := range consumers {
			placed.unprotected = placed.unprotected || k.Spec["kubeConfig"] != nil
			placed.renamed = placed.renamed || len(k.Renames) > 0
		}
	}
	placed.prune = p.from.side() != nil && p.from.side().Selection.Spec.GetDeletionPolicy() == v1alpha1.DeletionPolicyDelete
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

// unchanged returns the placements of selections that are the same in both commits, in the clusters where applications enter or leave
// others. No catalog is pulled for them alone.
func (c *comparison) unchanged(ctx context.Context, placements []placement) (found []placement) {
	clusters, pulled := map[string]bool{}, map[string]bool{}
	for _, p := range placements {
		if len(p.lost())+len(p.entering()) > 0 {
			clusters[p.any().KnownCluster()] = true
		}
		for _, r := range p.any().References {
			pulled[r.Catalog] = true
		}
	}
	isNew := func(r documents.Reference) bool { return !pulled[r.Catalog] }
	for _, p := range c.pairs {
		if at := p.any().KnownCluster(); at == "" || !clusters[at] || p.out != nil || len(p.open()) > 0 || slices.ContainsFunc(p.to.References, isNew) {
			continue
		}
		_, errBefore := c.rendered(ctx, p.from)
		side, errAfter := c.rendered(ctx, p.to)
		if errBefore == nil && errAfter == nil {
			found = append(found, c.placementOf(&pair{from: p.from, to: p.to, out: comparing.Unchanged(side)}))
		}
	}
	return found
}

// noteOthers notes the applications that enter or leave a selection, and that another one of its cluster has before and after: which of
// them holds an object is known in the cluster only.
func noteOthers(placements, unchanged []placement) {
	for _, p := range placements {
		for _, other := range slices.Concat(placements, unchanged) {
			at := p.any().KnownCluster()
			if at == "" || at != other.any().KnownCluster() || other.pair == p.pair || !other.applied || p.renamed || other.renamed || other.unprotected {
				continue
			}
			note := func(of map[safeguard.Key]safeguard.Definition, effect string) {
				var names []string
				for key, d := range of {
					_, had := other.before[key]
					if _, has := other.after[key]; had && has {
						names = append(names, d.Name)
					}
				}
				if slices.Sort(names); len(names) > 0 {
					p.out.Notes = append(p.out.Notes, fmt.Sprintf("%s/%s has %s as well: %s",
						other.out.Namespace, other.out.Name, excerpt.Names(slices.Compact(names), maxListed), effect))
				}
			}
			note(p.entering(), "while it holds that, this selection is stalled (Conflict), and publishes nothing")
			note(p.lost(), "Flux deletes nothing that it has claimed, and if it waited for this (Conflict), it publishes all that it selects")
		}
	}
}

// findMoves adds to the selection that an application leaves a move to each selection that it enters. The cluster of a
// plain file is unknown, so it uses the receivers whose files share most directories with the file of the giver.
func findMoves(placements []placement) {
	entering := map[safeguard.Key][]*placement{}
	for i, p := range placements {
		for key := range p.entering() {
			if p.applied && !p.renamed {
				entering[key] = append(entering[key], &placements[i])
			}
		}
	}
	for _, giver := range placements {
		if giver.renamed {
			continue
		}
		var moved []diff.Move
		for key, d := range giver.lost() {
			for _, receiver := range nearestTo(giver, entering[key]) {
				receiver.adopted = append(receiver.adopted, safeguard.Adopt([]safeguard.Definition{d}, []safeguard.Definition{receiver.after[key]})...)
				moved = append(moved, diff.Move{
					Application: d.Name, APIVersion: d.APIVersion, Kind: d.Kind,
					To: receiver.out.Namespace + "/" + receiver.out.Name, ToFile: receiver.any().File,
					Unprotected: len(giver.consumed.unknown) > 0 || giver.prune && (giver.unprotected || receiver.unprotected),
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

// holdAdopted holds what definitions lose by the selections that they enter, and notes what the safeguards let pass.
func holdAdopted(ctx context.Context, placements []placement) {
	for _, p := range placements {
		if len(p.adopted) == 0 {
			continue
		}
		safeguard.Sort(p.adopted)
		if !p.out.Live { // the cluster has them
			comparing.Hold(ctx, p.out, p.from.side(), p.to.side(), p.adopted)
		}
		if p.out.Held == nil {
			for _, r := range guard.Reasons(p.adopted, p.to.side().Result.Selection, guard.Fresh(nil)) {
				p.out.Notes = append(p.out.Notes, r.Application+": "+r.Message+": the safeguards let it pass")
			}
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
