// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
)

// readCommits evaluates two commits, and reads what they have.
func readCommits(ctx context.Context, base, head string, options Options) (*comparison, *gitops.Comparison, error) {
	compared, err := gitops.Compare(ctx, base, head, gitops.Options{
		Dir: options.Dir, Paths: options.Paths, Repositories: options.Repositories, Keep: documents.MayBeRelevant, Edits: options.Edits,
	})
	if err != nil {
		return nil, nil, err
	}
	c := &comparison{options: options, memo: memo.Memo{}, outside: compared.Outside}
	c.base, c.head = c.read(ctx, compared.Base), c.read(ctx, compared.Head)
	return c, compared, nil
}

// read reads the objects that a commit applies, and the files that Flux does not apply.
func (c *comparison) read(ctx context.Context, state gitops.State) documents.Set {
	r := documents.Set{Commit: state.Commit}
	for _, o := range state.Objects {
		document, err := c.parse(ctx, o)
		if err == nil {
			err = r.Add(ctx, o.Origin, document)
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

func (c *comparison) parse(ctx context.Context, o manifest.Object) (*documents.Document, error) {
	text, err := json.Marshal(o.Object)
	if err != nil {
		return nil, err
	}
	return memo.Of(ctx, c.memo, string(text), func() (*documents.Document, error) { return documents.Parse(ctx, text), nil })
}
