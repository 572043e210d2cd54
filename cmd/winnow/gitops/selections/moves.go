package selections

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// placement holds the applications of a selection before and after a change.
type placement struct {
	out           *diff.Selection
	cluster, file string
	before, after map[safeguard.Key]safeguard.Definition
	// pushed reports that either state has spec.push, and prune that Flux may delete objects that leave.
	pushed, prune bool
}

func placementOf(p pair, out *diff.Selection, from, to *diff.Side) placement {
	placed := placement{out: out, cluster: p.any().cluster, file: p.any().file, before: applicationsOf(from), after: applicationsOf(to)}
	for _, side := range []*diff.Side{from, to} {
		placed.pushed = placed.pushed || side != nil && side.Selection.Spec.Push != nil
	}
	placed.prune = from != nil && from.Selection.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete
	return placed
}

// applicationsOf returns the definitions that a state publishes.
func applicationsOf(side *diff.Side) map[safeguard.Key]safeguard.Definition {
	published := map[safeguard.Key]safeguard.Definition{}
	if side == nil || side.Empty != nil {
		return published
	}
	for _, d := range side.Result.Definitions {
		published[d.Key()] = d
	}
	return published
}

// findMoves adds to the selection that an application leaves a move to each selection that it enters. Outside
// of the directories of clusters the cluster of a selection is unknown, so it uses the receivers whose files
// have most directories in common with that of the giver.
func findMoves(placements []placement) {
	entering := map[safeguard.Key][]placement{}
	for _, p := range placements {
		for key := range p.after {
			if _, had := p.before[key]; !had {
				entering[key] = append(entering[key], p)
			}
		}
	}
	for _, giver := range placements {
		var moved []diff.Move
		for key, d := range giver.before {
			if _, stays := giver.after[key]; stays {
				continue
			}
			for _, receiver := range nearestTo(giver, entering[key]) {
				moved = append(moved, diff.Move{
					Application: d.Name, APIVersion: d.APIVersion, Kind: d.Kind,
					To: receiver.out.Namespace + "/" + receiver.out.Name, ToFile: receiver.file,
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

// nearestTo returns the placements in the cluster of the giver, or outside of clusters those whose files have
// most directories in common with that of the giver.
func nearestTo(giver placement, all []placement) []placement {
	var found []placement
	most := -1
	for _, p := range all {
		if p.cluster != giver.cluster {
			continue
		}
		common := 0
		if giver.cluster == "" {
			common = commonDirectories(giver.file, p.file)
		}
		if common > most {
			most, found = common, nil
		}
		if common == most {
			found = append(found, p)
		}
	}
	return found
}

func compareMoves(a, b diff.Move) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.ToFile, b.ToFile), cmp.Compare(a.Application, b.Application),
		cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
}
