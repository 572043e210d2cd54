// SPDX-License-Identifier: Apache-2.0

package building

import (
	"context"
	"fmt"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/dialect"
)

// BuildSync returns the objects of the sync of a FluxInstance with its patches. t is any tree of its commit.
func (b *Builder) BuildSync(ctx context.Context, t *repository.Tree, s *manifest.Sync) ([]manifest.Object, error) {
	const dir = "sync"
	t = t.Alone(map[string][]byte{dir + "/objects.yaml": []byte(documents.YAMLOf(s.Source.Object) + "---\n" + documents.YAMLOf(s.Kustomization.Object))})
	k := manifest.DirectoryKustomization(dir)
	if err := dialect.Unmarshal([]byte(documents.YAMLOf(s.Patches)), &k.Spec.Patches); err != nil {
		return nil, fmt.Errorf("reading the patches of its FluxInstance: %w", err)
	}
	return b.Build(ctx, inputs.NewClosure(t, dir, nil), dir, k, &Variables{})
}
