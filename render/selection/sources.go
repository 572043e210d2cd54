// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Several sources: their limits, and the applications that they have in common.

// SourceError is the error of the limit of a source.
type SourceError struct {
	// Index of the source.
	Index int
	// Err is an *UnknownListError or an *expression.Error.
	Err error
}

func (e *SourceError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// limits returns the rules of the limit of a source. Lists come from this source alone.
func (r SourceRules) limits(i int, source Source) ([]rule, error) {
	if r.Limit == nil || len(source.Catalog.Applications) == 0 {
		return nil, nil
	}
	listed, err := members([]Source{source}, r.Limit.Lists)
	if err != nil {
		return nil, &SourceError{Index: i, Err: err}
	}
	return limitRules(fmt.Sprintf("sources[%d].", i), *r.Limit, listed), nil
}

// gathering are the applications of all sources, before the rules of the selection.
type gathering struct {
	// decisions in the order of the sources; those without a Rule are left to the rules of the selection.
	decisions []Decision
	// winners maps names of applications to the index of the first source's decision.
	winners map[string]int
	// conflicts are definitions whose versions cannot be merged.
	conflicts []Conflict
}

// add adds the applications of a source. Those that its limit refuses do not exist there: they neither shadow,
// nor are they merged.
func (g *gathering) add(ctx context.Context, i int, source Source, rules SourceRules) error {
	limits, err := rules.limits(i, source)
	if err != nil {
		return err
	}
	for _, application := range source.Catalog.Applications {
		decision := Decision{Application: application, Source: source.Name, Index: i, SourceDigest: source.Digest, Versions: application.Versions}
		_, reason, err := refusedBy(ctx, limits, &decision)
		if err != nil {
			return cmp.Or(ctx.Err(), error(&SourceError{Index: i, Err: err}))
		}
		switch first, taken := g.winners[application.Name]; {
		case reason != "":
			decision.Rule, decision.Reason = RuleSourceLimit, reason
		case taken:
			g.shadow(i, first, &decision, rules.MergeVersions)
		default:
			g.winners[application.Name] = len(g.decisions)
		}
		g.decisions = append(g.decisions, decision)
	}
	return nil
}

// shadow decides on an application that an earlier source has, whose decision is the one at the index first.
func (g *gathering) shadow(i, first int, decision *Decision, merges bool) {
	winner := &g.decisions[first]
	decision.Rule = RuleShadowed
	decision.Reason = fmt.Sprintf("the source %q, which is listed earlier, has it as well", winner.Source)
	if !merges {
		return
	}
	had := sets.New(winner.Application.Versions...)
	added := slices.DeleteFunc(slices.Clone(decision.Application.Versions), had.Has)
	switch why := obstacle(winner.Application, decision.Application, len(added)); {
	case len(added) == 0:
		decision.Reason += "; merge finds no version that it lacks"
	case why != "":
		g.conflicts = append(g.conflicts, Conflict{
			Application: decision.Application.Name, Index: i, Source: decision.Source, Winner: winner.Source, Reason: why,
		})
	default:
		winner.Application = winner.Application.With(catalog.Merged{Source: decision.Source, From: decision.Application, Versions: added})
		winner.Versions = winner.Application.Versions
		decision.Reason += "; merge adds " + some(added) + " to it"
	}
}

// obstacle returns why versions cannot be merged, empty if they can.
func obstacle(winner, later *catalog.Application, added int) string {
	differ := func(field, was, is string) string {
		return fmt.Sprintf("its %s is %s there, and %s here", field, excerpt.Quoted(was), excerpt.Quoted(is))
	}
	switch {
	case winner.APIVersion != later.APIVersion:
		return differ("apiVersion", winner.APIVersion, later.APIVersion)
	case winner.Kind != later.Kind:
		return differ("kind", winner.Kind, later.Kind)
	case winner.Group != kinds.KKPGroup:
		return fmt.Sprintf("its group is %s, and only versions of %s can be merged", excerpt.Quoted(winner.Group), kinds.KKPGroup)
	case winner.Method != later.Method && winner.Method != "" && later.Method != "": // records of older releases lack it
		return differ("spec.method", winner.Method, later.Method)
	}
	if all := len(winner.Versions) + added; all > metadata.MaxVersions {
		return fmt.Sprintf("it would have %d versions, more than %d", all, metadata.MaxVersions)
	}
	return ""
}

// Conflict is a definition of a source whose versions cannot be merged.
type Conflict struct {
	// Application is the metadata.name, Index the place of the source in the spec.
	Application string
	Index       int
	// Source has the definition, and Winner is the earlier source that has it as well.
	Source, Winner string
	// Reason describes what differs.
	Reason string
}

// String describes what is wrong, where, and what to do.
func (c Conflict) String() string {
	return fmt.Sprintf("versions of application %s of the source %q cannot be added to the versions of %q: %s; leave it out with spec.sources[%d].limit",
		c.Application, c.Source, c.Winner, c.Reason, c.Index)
}

// MergeError is returned if versions of selected applications cannot be merged.
type MergeError struct {
	// Conflicts in the order of the sources, then of the names. Never empty.
	Conflicts []Conflict
}

func (e *MergeError) Error() string {
	return excerpt.Clauses(e.Conflicts, maxListed, 0, Conflict.String)
}

// conflict returns the error about selected applications whose versions cannot be merged.
func (g *gathering) conflict(result Result) error {
	if len(g.conflicts) == 0 {
		return nil
	}
	selected := sets.New(each.Map(result.Applications(), func(d Decision) string { return d.Application.Name })...)
	conflicts := slices.DeleteFunc(g.conflicts, func(c Conflict) bool { return !selected.Has(c.Application) })
	if len(conflicts) == 0 {
		return nil
	}
	return &MergeError{Conflicts: conflicts}
}
