// SPDX-License-Identifier: Apache-2.0

package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render/mention"
)

// showOptions are the flags of winnow show.
type showOptions struct {
	input.Options
	git          string
	repositories []string
	output       *flags.Choice
}

// Documents returns an empty document of each kind that -o json prints.
func Documents() []any {
	return []any{&shownApplication{Document: output.NewDocument("ApplicationReport")}}
}

// New returns winnow show.
func New() *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show APPLICATION [--source CATALOG] [-f SELECTION]",
		Short: "Print all that is known of an application",
		Long: "Print all that is known of an application: for each source that has it, its\n" +
			"metadata and facts, versions with their charts, and default values; and for each\n" +
			"selection whether it is in, why, with which versions of which source, and the\n" +
			"default values that its artifact has.\n\n" +
			"The selections are that of -f, or with --git COMMIT [PATH...] all that Flux\n" +
			"applies from this commit of a GitOps repository, as in winnow diff. Without\n" +
			"either, --source is one catalog.\n\n" +
			"JSON and YAML have a list definitions, one for each catalog: source, catalog,\n" +
			"digest, path, apiVersion, kind, tier, deprecated, labels, annotations, metadata\n" +
			"(other keys of the metadata.yaml), lists, objectLabels, objectAnnotations,\n" +
			"method, defaultVersion, versions (version, chart, facts), defaultValues, and\n" +
			"fields: the rest of spec, where a text of more than 300 bytes is its length.\n" +
			"The list selections has namespace, name, cluster, file, decision (as in winnow\n" +
			"list -f), shadowed, limited, defaultValues, and unknown: why nothing is known.\n" +
			"Both have charts, images and urls as in winnow list. Patches are not applied. A\n" +
			"user and a password in an address are replaced by ***.\n\n" +
			"Exit codes: 0 shown, 1 no source has it, 2 usage, I/O or an invalid input.",
		Example: "  winnow show argocd --source ./catalog\n\n" +
			"  winnow show argocd -f selection.yaml -o json\n\n" +
			"  # where a GitOps repository selects it\n" +
			"  winnow show argocd --git HEAD clusters/production",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.git != "" && len(args) > 0 {
				return nil
			}
			return flags.SourceArguments("APPLICATION")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), flags.Notes(cmd), args[0], args[1:])
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return input.CompleteApplications(cmd.Context(), o.Sources), cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.AddFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.git, "git", "", "`COMMIT` of the Git repository to look into")
	f.StringArrayVar(&o.repositories, "repository", nil, "`NAME=DIR` of a source that is this repository")
	for _, flag := range []string{"file", "name", "source"} {
		cmd.MarkFlagsMutuallyExclusive("git", flag)
	}
	flags.CompleteNothing(cmd, "git", "repository")
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML)
	return cmd
}

func (o *showOptions) run(ctx context.Context, stdin io.Reader, stdout, notes io.Writer, name string, paths []string) error {
	show := newReportBuilder(name, notes)
	var err error
	switch {
	case o.git != "":
		err = o.showCommit(ctx, show, paths)
	case len(o.repositories) > 0:
		err = errors.New("--repository is for --git")
	case o.File == "":
		err = o.showCatalog(ctx, show)
	default:
		err = o.showSelection(ctx, stdin, show)
	}
	if err != nil {
		return output.Unusable(err)
	}
	if len(show.out.Definitions) == 0 && !show.isUnknown() {
		return report.UnknownApplication(name, show.known)
	}
	var text strings.Builder
	if err := output.Write(&text, o.output.Value, show.out); err != nil {
		return err
	}
	_, err = io.WriteString(stdout, output.WithoutPasswords(text.String()))
	return err
}

// showCatalog shows the application of one catalog.
func (o *showOptions) showCatalog(ctx context.Context, show *reportBuilder) error {
	switch {
	case o.Name != "":
		return errors.New("--name picks a selection: pass -f FILE as well")
	case len(o.Sources) != 1:
		return errors.New("which catalog? pass one --source CATALOG, or a selection with -f FILE, or --git COMMIT")
	}
	source, err := input.OpenSource(ctx, o.Sources[0], v1alpha1.SourceReference{}, &o.Access)
	if err != nil {
		return err
	}
	return show.define(ctx, source, "", o.Sources[0])
}

// showSelection shows the application of the sources of -f.
func (o *showOptions) showSelection(ctx context.Context, stdin io.Reader, show *reportBuilder) error {
	sources, options, err := o.Decide(ctx, stdin, show.notes)
	if err != nil {
		return err
	}
	cs := o.Selection.CatalogSelection
	places := make([]string, len(sources))
	for i, at := range o.Located {
		places[i] = at.Address
	}
	if len(o.Sources) > 0 {
		if places, err = input.AssignSources(cs, flags.SourceFlag, o.Sources); err != nil {
			return err
		}
	}
	for i, source := range sources {
		if err := show.define(ctx, source, cs.Spec.Sources[i].Path, places[i]); err != nil {
			return err
		}
	}
	selected := shownSelection{Namespace: cs.Namespace, Name: cs.Name, File: files.Label(o.File)}
	if err := show.decide(ctx, sources, options, &selected); err != nil {
		return o.Placed(err)
	}
	show.out.Selections = append(show.out.Selections, selected)
	if len(show.out.Definitions) > 0 {
		o.WarnUnmatched(show.notes, mention.UnmatchedOf(sources, options.Mentions))
	}
	return nil
}

// showCommit shows the application of all catalogs that the selections of --git have.
func (o *showOptions) showCommit(ctx context.Context, show *reportBuilder, paths []string) error {
	commit, err := repository.Git{}.Commit(ctx, o.git)
	if err != nil {
		return err
	}
	if paths, err = input.RepositoryPaths(ctx, paths); err != nil {
		return err
	}
	found, err := selections.Find(ctx, commit, selections.Options{Paths: paths, Repositories: o.repositories, Open: input.OpenOfCommit(&o.Access)})
	if err != nil {
		return err
	}
	for _, note := range found.Notes {
		output.PrintNote(show.notes, "note: "+note)
	}
	if len(found.Selections) == 0 {
		return fmt.Errorf("%s has no CatalogSelection at %s", plaintext.Line(o.git), plaintext.Line(fmt.Sprint(paths)))
	}
	for _, one := range found.Selections {
		if err := show.placed(ctx, one); err != nil {
			return err
		}
	}
	return nil
}
