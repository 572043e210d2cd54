// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Action is what happens to an entry against the predicate.
type Action string

// The actions of decisions.
const (
	// Drop leaves out an entry that the predicate keeps.
	Drop Action = "Drop"
	// Add keeps an entry that the predicate leaves out.
	Add Action = "Add"
)

// Decision explains why a channel has other entries than the predicate keeps.
type Decision struct {
	Package, Channel, Bundle string
	Action                   Action
	// Reason for people, lower case, such as "no upgrade leads from it to the head x.v2.0.0".
	Reason string
}

// String returns the decision as a sentence.
func (d Decision) String() string {
	verb := "drops"
	if d.Action == Add {
		verb = "keeps"
	}
	return fmt.Sprintf("package %s: channel %s %s %s: %s", excerpt.Of(d.Package), excerpt.Of(d.Channel), verb, excerpt.Of(d.Bundle), d.Reason)
}

// PruneError reports that a package cannot be pruned as asked.
type PruneError struct {
	Package string
	// Problems for people, lower case. Never empty.
	Problems []string
}

// Error lists the first problems and states how many more there are.
func (e *PruneError) Error() string {
	return "pruning packages: " + strings.ReplaceAll(excerpt.List(e.Problems, maxListed, func(problem string) string {
		return e.Package + ": " + problem
	}), "\n", " ")
}
