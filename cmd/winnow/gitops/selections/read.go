// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
)

// read reads the objects that a commit applies, and the files that Flux does not apply.
func read(ctx context.Context, state gitops.State, memo documents.Memo) documents.Set {
	r := documents.Set{Notes: state.Notes, Inputs: state.Inputs, Unbuilt: state.Unbuilt, Removed: state.Removed, Memo: memo}
	for _, o := range state.Objects {
		if err := r.AddObject(ctx, o.Origin, o.Object); err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s %s is left out: %v", o.Cluster, o.GetKind(), o.GetName(), err))
		}
	}
	for _, file := range state.Files {
		r.Read(ctx, file)
	}
	return r
}
