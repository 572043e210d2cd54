// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
)

// read reads the objects that a commit applies, and the files that Flux does not apply.
func read(ctx context.Context, state gitops.State) documents.Set {
	r := documents.Set{Notes: state.Notes, Inputs: state.Inputs, Unbuilt: state.Unbuilt, Removed: state.Removed}
	for _, o := range state.Objects {
		where := documents.Origin{
			Cluster: o.Cluster, Alone: o.Alone, Kustomization: o.Kustomization, Appliers: o.Appliers, File: o.File, Inputs: o.Inputs,
			Dir: o.Dir, Unknown: o.Unknown, Hidden: o.Hidden, Lost: o.Lost,
		}
		document, err := yaml.Marshal(o.Object)
		if err == nil {
			err = r.Add(ctx, where, document)
		}
		if err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s %s is left out: %v", o.Cluster, o.GetKind(), o.GetName(), err))
		}
	}
	for _, file := range state.Files {
		r.Read(ctx, file)
	}
	return r
}
