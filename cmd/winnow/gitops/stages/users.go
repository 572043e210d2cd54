// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
)

// Users are the clusters with keys beside the files of a directory: those that apply it, and the user clusters of these.
type Users struct {
	Dir string
	// URLs are the addresses of the OCIRepositories in the files, as they stand there.
	URLs []string
	// IsOverlay reports a kustomization that takes files of other directories, which may have other OCIRepositories and addresses.
	IsOverlay bool
	Clusters  []Cluster
}

// UsersAt returns what AllUsers returns of a commit.
func UsersAt(ctx context.Context, git repository.Git, commit string) (all []Users, err error) {
	err = git.ReadTree(ctx, commit, func(tree *repository.Tree) error {
		all, err = AllUsers(tree)
		return err
	})
	return all, err
}

// AllUsers returns the directories of a tree that have keys of clusters beside their files.
func AllUsers(tree *repository.Tree) (all []Users, err error) {
	for dir, names := range tree.Dirs {
		u := Users{Dir: dir}
		for _, sub := range []string{clustersDir, userClustersDir} {
			keys, err := keysIn(tree, path.Join(dir, sub))
			if err != nil {
				return nil, err
			}
			u.Clusters = append(u.Clusters, keys...)
		}
		if len(u.Clusters) == 0 {
			continue
		}
		kustomization := inputs.KustomizationFile(tree, dir)
		for _, name := range names {
			if file := path.Join(dir, name); repository.IsYAML(name) && tree.IsFile(file) {
				content, err := tree.Read(file)
				if err != nil {
					return nil, err
				}
				u.IsOverlay = u.IsOverlay || file == kustomization && bytes.Contains(content, []byte("../"))
				found, _ := stagefile.Find(content) // another file may be no stage
				for _, s := range found {
					u.URLs = append(u.URLs, s.URL)
				}
			}
		}
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b Users) int { return cmp.Compare(a.Dir, b.Dir) })
	return all, nil
}
