// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/options"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// servedCatalog returns the catalog with the image of the packages, as a push makes it; none without packages.
func servedCatalog(ctx context.Context, others []selection.Decision, opts options.Options) ([]backend.Object, error) {
	if opts.Served == nil {
		return nil, nil
	}
	files := tree.New()
	if err := contents.Add(ctx, files, others); err != nil {
		return nil, err
	}
	configs, err := contract.ConfigsIn(files)
	if err != nil || configs == nil {
		return nil, err
	}
	image, err := contract.PackConfigs(configs, contract.ServedAnnotations(opts.Namespace+"/"+opts.Name))
	if err != nil {
		return nil, err
	}
	return []backend.Object{opts.Served.Object(opts.Repository + "@" + image.Digest().String())}, nil
}
