// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/selection"
)

// commitOptions are the flags of a comparison of commits.
type commitOptions struct {
	git          string
	repositories []string
}

func (o *commitOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.git, "git", "", "`BASE..HEAD` of the Git repository to compare")
	f.StringArrayVar(&o.repositories, "repository", nil, "`NAME=DIR` of a source that is this repository")
	for _, flag := range []string{"file", "from-selection", "name", "from", "to"} {
		cmd.MarkFlagsMutuallyExclusive("git", flag)
	}
	flags.CompleteNothing(cmd, "git", "repository")
}

// compare compares the commits of --git, with the live state of the cluster that open returns.
func (o *commitOptions) compare(ctx context.Context, paths []string, access *flags.Access, open func() (*live.Cluster, error)) (*diff.Report, error) {
	base, head, err := repository.Git{}.Commits(ctx, o.git)
	if err != nil {
		return nil, err
	}
	for i := range paths {
		if paths[i], err = (repository.Git{}).Root(ctx, paths[i]); err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		paths = []string{"."} // the repository, whatever the working directory
	}
	cluster, err := open()
	if err != nil {
		return nil, err
	}
	return selections.Compare(ctx, base, head, selections.Options{
		Paths: paths, Repositories: o.repositories,
		// insecure comes from the commit. It needs --plain-http as well: a pull request alone must not make winnow
		// send credentials in the clear.
		Open: func(ctx context.Context, address string, ref v1alpha1.SourceReference, insecure bool) (selection.Source, error) {
			if !insecure {
				return input.OpenSource(ctx, address, ref, access.Encrypted(input.HostOf(address)))
			}
			return input.OpenSource(ctx, address, ref, access)
		},
		Compare: cluster.Compare,
	})
}
