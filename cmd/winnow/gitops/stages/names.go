// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"path"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
)

// Names returns the names of the clusters of a stage by the files of their keys, which it does not read; none where the stage
// has no keys.
func Names(tree *repository.Tree, file string) (names []string) {
	dir := path.Join(path.Dir(file), clustersDir)
	for _, key := range tree.Dirs[dir] {
		if name, isKey := strings.CutSuffix(key, receipt.KeySuffix); isKey && tree.IsFile(path.Join(dir, key)) {
			names = append(names, name)
		}
	}
	return names
}
