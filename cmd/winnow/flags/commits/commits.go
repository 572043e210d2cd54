// SPDX-License-Identifier: Apache-2.0

// Package commits has the flags and the access of the verbs that compare commits. It must not know what a verb does with the result.
package commits

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/selection"
)

// Commits are the flags of the verbs that compare two commits.
type Commits struct {
	Receipts

	Git          string
	Repositories []string
}

// AddFlags adds the flags.
func (o *Commits) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Git, "git", "", "`BASE..HEAD` of the Git repository to compare")
	f.StringArrayVar(&o.Repositories, "repository", nil, "`NAME=DIR` of a source that is this repository")
	flags.CompleteNothing(cmd, "git", "repository")
	o.AddFlag(cmd)
}

// Compare compares the commits of --git at the paths, which are relative to the working directory, observes what differs, and adds
// uses.
func (o *Commits) Compare(ctx context.Context, paths []string, access *flags.Access, observe comparing.Observer) (*diff.Report, error) {
	base, head, err := repository.Git{}.Commits(ctx, o.Git)
	if err != nil {
		return nil, err
	}
	options, err := o.options(ctx, paths)
	if err != nil {
		return nil, err
	}
	options.Open, options.Rendered, options.Observe = OpenOfCommit(access), Rendered(access), observe
	report, err := selections.Compare(ctx, base, head, options)
	if err != nil {
		return nil, err
	}
	return report, o.AddUses(ctx, access, report)
}

// ProveApprovals proves edits of a commit, as selections.ProveApprovals does.
func (o *Commits) ProveApprovals(ctx context.Context, commit string, paths []string, edits map[string][]byte, needs func(diff.Place) []string) error {
	options, err := o.options(ctx, paths)
	if err != nil {
		return err
	}
	return selections.ProveApprovals(ctx, commit, options, edits, needs)
}

func (o *Commits) options(ctx context.Context, paths []string) (selections.Options, error) {
	rooted, err := RepositoryPaths(ctx, paths)
	return selections.Options{Paths: rooted, Repositories: o.Repositories}, err
}

// RepositoryPaths returns paths relative to the root of the repository; without any, the root itself. The working directory does
// not matter.
func RepositoryPaths(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return []string{"."}, nil
	}
	rooted := make([]string, len(paths))
	for i, path := range paths {
		var err error
		if rooted[i], err = (repository.Git{}).Root(ctx, path); err != nil {
			return nil, err
		}
	}
	return rooted, nil
}

// OpenOfCommit returns a function that opens the catalogs that a commit names. insecure comes from the commit. It needs
// --plain-http as well: a pull request alone must not make winnow send credentials in the clear.
func OpenOfCommit(access *flags.Access) func(ctx context.Context, address string, ref v1alpha1.SourceReference, insecure bool) (selection.Source, error) {
	return func(ctx context.Context, address string, ref v1alpha1.SourceReference, insecure bool) (selection.Source, error) {
		return input.OpenSource(ctx, address, ref, accessOfCommit(access, address, insecure))
	}
}

// Rendered returns the registry of the rendered artifacts that a commit names, with the same access.
func Rendered(access *flags.Access) *promotions.Registry {
	return promotions.NewRegistry(func(ctx context.Context, address string, insecure bool) (render.Artifact, error) {
		return input.PullRendered(ctx, address, accessOfCommit(access, address, insecure))
	})
}

func accessOfCommit(access *flags.Access, address string, insecure bool) *flags.Access {
	if insecure {
		return access
	}
	return access.Encrypted(input.HostOf(address))
}
