// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/edits"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render/finding"
)

// resolver resolves the configs that a walk has found.
type resolver struct {
	*configs.Walk

	Options
	sources map[string]*Source
	schemas memo.Memo
	pins    pins
	result  Result
	needs   needs
	// inline maps kustomizations to the new texts of their elements.
	inline map[string]map[edits.Element]string
	// given has the names that configs without one got.
	given map[string]bool
}

func (r *resolver) change(file string, line int, format string, args ...any) {
	r.result.Changes = append(r.result.Changes, finding.Finding{Path: r.Show(file), Line: line, Message: fmt.Sprintf(format, args...)})
}
