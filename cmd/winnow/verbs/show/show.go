// SPDX-License-Identifier: Apache-2.0

// Package show is winnow show: it prints all that a catalog has about an application.
package show

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/each"
)

// showOptions are the flags of winnow show.
type showOptions struct {
	catalogs []string
	access   flags.Access
	output   *flags.Choice
}

// Documents returns an empty document of each kind that -o json prints.
func Documents() []any {
	return []any{&shownApplication{Document: output.NewDocument("ApplicationReport")}}
}

// New returns winnow show.
func New() *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show APPLICATION --source CATALOG",
		Short: "Print all that a catalog has about an application",
		Long: "Print all that a catalog has about an application: its metadata and facts, the\n" +
			"versions with their charts, and the default values. winnow explain shows what a\n" +
			"selection decides on it.\n\n" +
			"docs/schemas has the members of JSON and YAML. In their fields, and below spec,\n" +
			"a text of more than 300 bytes is its length. A user and a password in an address\n" +
			"are replaced by ***.\n\n" +
			"Exit codes: 0 shown, 1 the catalog does not have it, 2 usage, I/O or an invalid\n" +
			"input.",
		Example: "  winnow show argocd --source ./catalog\n\n" +
			"  winnow show argocd --source oci://ghcr.io/org/catalog:v1.2.0 -o json",
		Args: flags.SourceArguments("APPLICATION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), args[0])
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return input.CompleteApplications(cmd.Context(), o.catalogs), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringArrayVar(&o.catalogs, "source", nil, "`CATALOG` that has the application")
	o.access.AddFlags(cmd)
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML)
	return cmd
}

func (o *showOptions) run(ctx context.Context, stdout io.Writer, name string) error {
	if len(o.catalogs) != 1 {
		return errors.New("which catalog? pass one --source CATALOG")
	}
	source, err := input.OpenSource(ctx, o.catalogs[0], v1alpha1.SourceReference{}, &o.access)
	if err != nil {
		return output.Unusable(err)
	}
	all := source.Catalog.Applications
	i := slices.IndexFunc(all, func(a *catalog.Application) bool { return a.Name == name })
	if i < 0 {
		return report.UnknownApplication(name, each.Map(all, func(a *catalog.Application) string { return a.Name }))
	}
	shown, err := newReport(ctx, all[i])
	if err != nil {
		return output.Unusable(err)
	}
	shown.Catalog, shown.Digest, shown.Lists = o.catalogs[0], source.Digest, report.ListsByMember(source.Catalog)[name]
	return output.WriteRedacted(stdout, o.output.Value, shown, redact.Users)
}
