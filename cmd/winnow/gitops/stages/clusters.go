// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/render/each"
)

// Cluster is a cluster of a stage.
type Cluster struct {
	Name string
	// Key verifies its receipts.
	Key *receipt.PublicKey
}

// clustersDir is the directory of the keys, beside the file of the stage. Flux builds a directory of YAML files alone. userClustersDir
// has the keys of user clusters of KKP, which have installations, but no definitions.
const clustersDir, userClustersDir = "clusters", "user-clusters"

// Clusters returns the clusters of a stage, by name.
func Clusters(tree *repository.Tree, of Placed) (all []Cluster, err error) {
	dir := path.Join(path.Dir(of.File), clustersDir)
	if all, err = keysIn(tree, dir); err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no NAME%s in HEAD: commit the public key of each cluster there", dir, receipt.KeySuffix)
	}
	return all, err
}

// Names returns the names of the clusters of a stage by the files of their keys, which it does not read; none where the stage
// has no keys.
func Names(tree *repository.Tree, file string) []string {
	return namesIn(tree, path.Join(path.Dir(file), clustersDir))
}

func namesIn(tree *repository.Tree, dir string) (names []string) {
	for _, file := range tree.Dirs[dir] {
		if name, isKey := strings.CutSuffix(file, receipt.KeySuffix); isKey && tree.IsFile(path.Join(dir, file)) {
			names = append(names, name)
		}
	}
	return names
}

func keysIn(tree *repository.Tree, dir string) (all []Cluster, err error) {
	if err := checkLinks(tree, dir); err != nil {
		return nil, err
	}
	for _, name := range namesIn(tree, dir) {
		c, file := Cluster{Name: name}, path.Join(dir, name+receipt.KeySuffix)
		err := receipt.CheckCluster(name)
		if err == nil && tree.Files[file].Size > receipt.MaxKey {
			err = fmt.Errorf("it has more than %d bytes", receipt.MaxKey)
		}
		var content []byte
		if err == nil {
			content, err = tree.Read(file)
		}
		if err == nil {
			c.Key, err = receipt.ReadPublicKey(content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// checkLinks returns an error for keys that are symbolic links, whose clusters would be overlooked. A linked directory counts beside
// YAML files alone.
func checkLinks(tree *repository.Tree, dir string) error {
	found := each.Where(tree.Links[dir], func(name string) bool { return strings.HasSuffix(name, receipt.KeySuffix) })
	parent, name := path.Split(dir)
	if parent = path.Clean(parent); slices.Contains(tree.Links[parent], name) && slices.ContainsFunc(tree.Dirs[parent], repository.IsYAML) {
		found = append(found, "")
	}
	if len(found) > 0 {
		return fmt.Errorf("%s is a symbolic link, which is not followed: commit the keys as files", path.Join(dir, found[0]))
	}
	return nil
}

// Named returns which of the digests the stage has had in its last commits.
func Named(ctx context.Context, git repository.Git, commit string, of Placed, digests map[string]bool) (map[string]bool, error) {
	had := map[string]bool{}
	err := git.History(ctx, commit, of.File, func(_ repository.Change, content []byte) bool {
		found, _ := stagefile.Find(content) // one that cannot be read names none
		for _, s := range found {
			if s.FullName() == of.FullName() && digests[s.Digest] {
				had[s.Digest] = true
			}
		}
		return len(had) < len(digests)
	})
	return had, err
}
