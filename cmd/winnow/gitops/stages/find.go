// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Placed is an OCIRepository in a file of a commit.
type Placed struct {
	stagefile.Stage

	// File is relative to the root of the repository.
	File string
}

// String names the OCIRepository and its place.
func (p Placed) String() string { return fmt.Sprintf("%s (%s:%d)", p.FullName(), p.File, p.Line) }

// Find returns the only OCIRepository with a digest at a path of the tree, relative to the working directory. name is its
// name, empty for any. With follows, it may be one without a digest, if no other has one.
func Find(ctx context.Context, tree *repository.Tree, argument, name string, follows bool) (found Placed, err error) {
	all, others, err := at(ctx, tree, argument, name)
	if follows && len(all) == 0 {
		all = others
	}
	const listed = 5
	switch {
	case err != nil:
		return found, err
	case len(all) == 0 && len(others) > 0:
		return found, fmt.Errorf("it is no stage, which is an OCIRepository with ref.digest: %s. What one without a digest runs is known in its cluster alone: pin it",
			excerpt.List(others, listed, func(p Placed) string { return p.String() + " has " + textOr(p.Follows, "no ref") }))
	case len(all) == 0 && name != "":
		return found, fmt.Errorf("it has no OCIRepository with ref.digest of the name %s", excerpt.Quoted(name))
	case len(all) == 0:
		return found, errors.New("it has no OCIRepository with ref.digest")
	case len(all) > 1:
		return found, fmt.Errorf("it has several stages: %s: name one file, or pass --name", excerpt.List(all, listed, Placed.String))
	}
	found = all[0]
	if found.Digest != "" && !stagefile.IsDigest(found.Digest) {
		err = fmt.Errorf("%s:%d: ref.digest %s is no digest, such as sha256:12ab... with 64 digits", found.File, found.Line, excerpt.Quoted(found.Digest))
	}
	return found, err
}

// at returns the OCIRepositories at a path, with a digest and without.
func at(ctx context.Context, tree *repository.Tree, argument, name string) (pinned, others []Placed, err error) {
	rooted, err := repository.Git{}.Root(ctx, argument)
	if err != nil {
		return nil, nil, err
	}
	if !tree.Exists(rooted) {
		return nil, nil, nothingAt(tree, rooted)
	}
	for _, file := range tree.YAMLs(rooted) {
		content, err := tree.Read(file)
		if err != nil {
			return nil, nil, err
		}
		all, err := stagefile.Find(content)
		if err != nil && tree.IsFile(rooted) { // another one may be no stage
			return nil, nil, err
		}
		for _, s := range all {
			switch {
			case name != "" && s.Name != name:
			case s.Digest == "":
				others = append(others, Placed{s, file})
			default:
				pinned = append(pinned, Placed{s, file})
			}
		}
	}
	return pinned, others, nil
}

// nothingAt returns the error for a path that a commit does not have.
func nothingAt(tree *repository.Tree, name string) error {
	known := slices.Collect(maps.Keys(tree.Dirs))
	if repository.IsYAML(name) {
		known = tree.YAMLs(".")
	}
	if near := spelling.Nearest(name, known); len(near) > 0 {
		return fmt.Errorf("HEAD has nothing there: did you mean %s?", plaintext.Line(near[0]))
	}
	return errors.New("HEAD has nothing there")
}

func textOr(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return "ref." + text
}
