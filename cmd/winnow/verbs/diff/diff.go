// SPDX-License-Identifier: Apache-2.0

// Package diff is winnow diff: it compares catalogs, selections and commits. It must not know how a diff is shown.
package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/comparison"
	"github.com/winnow-dev/winnow/cmd/winnow/diffview"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/chartflags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/commits"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

// diffOptions are the flags of winnow diff.
type diffOptions struct {
	catalogs catalogOptions
	commits  commits.Commits
	charts   chartflags.Charts

	kubeconfig, kubeContext string

	view     diffview.View
	markdown string
	failOn   flags.FailOn
	output   *flags.Choice
}

const diffExamples = "  # what v2 changes\n" +
	"  winnow diff -f selection.yaml --from oci://ghcr.io/org/catalog:v1 \\\n" +
	"    --to oci://ghcr.io/org/catalog:v2\n\n" +
	"  # what an edit of the selection changes\n" +
	"  winnow diff -f edited.yaml --from-selection selection.yaml --to ./catalog\n\n" +
	"  # a catalog's own pull request\n" +
	"  winnow diff --from oci://ghcr.io/org/catalog:v1 --to . --stat \\\n" +
	"    --fail-on removal,version-removal\n\n" +
	"  # before the first publication: what it changes in the cluster\n" +
	"  winnow diff -f selection.yaml --to ./catalog --live\n\n" +
	"  # several sources\n" +
	"  winnow diff -f selection.yaml --from base=./old --from extra=./extra \\\n" +
	"    --to base=./new --to extra=./extra\n\n" +
	"  # a pull request of a GitOps repository, which must not remove anything\n" +
	"  winnow diff --git origin/main...HEAD clusters/production -o markdown \\\n" +
	"    --fail-on removal,version-removal"

// Documents returns an empty document of each kind that -o json prints.
func Documents() []any {
	return []any{diff.New()}
}

// New returns winnow diff.
func New() *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff [-f SELECTION] --from CATALOG --to CATALOG",
		Short: "Show what a new catalog, or an edit of a selection, changes",
		Long: "Show what a new catalog, or an edit of a selection, changes in the artifact:\n" +
			"application by application and version by version, and what the safeguards will\n" +
			"hold, using the code of the controller. docs/diff.md explains the output.\n\n" +
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest].\n\n" +
			"Without -f, two catalogs are compared using a selection of all applications, as\n" +
			"in a pull request of a catalog repository.\n\n" +
			"With --git BASE..HEAD [PATH...] two commits of a GitOps repository are compared,\n" +
			"with BASE...HEAD from the merge base of both to HEAD. From the PATH of a\n" +
			"cluster on, the Kustomizations of Flux are followed and built as Flux does, and\n" +
			"the catalogs that the result names are pulled. A directory with a\n" +
			"kustomization.yaml that no Kustomization applies is built as well; other YAML\n" +
			"files are read unchanged. Nothing else is fetched. A GitRepository is this\n" +
			"repository if a remote has its URL; --repository names others. Where the digest\n" +
			"in an OCIRepository changes, the rendered artifacts of both are compared.\n\n" +
			"--charts renders the charts of upgraded instances and versions before and after,\n" +
			"each in a process with limits, and shows what the upgrade may break. It pulls\n" +
			"them from their addresses behind the mirrors. --charts=from takes the original\n" +
			"addresses, and --charts=DIR a directory. A cluster is not looked at.\n\n" +
			"--fail-on takes\n\n" + diffview.Conditions() + "\n" +
			"--live reads the definitions of a cluster, as kubectl would, and adds their\n" +
			"losses when the selection begins to hold them. Without --from and\n" +
			"--from-selection, a first publication is compared with the live definitions.\n\n" +
			"Exit codes: 0 compared, 1 something of --fail-on was found, or --git found an\n" +
			"invalid selection or catalog in HEAD, 2 usage, I/O or another invalid input.",
		Example: diffExamples,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case o.commits.Git != "":
			case len(args) == 2:
				return fmt.Errorf("diff takes its catalogs by --from and --to; did you mean: winnow diff --from %s --to %s?", plaintext.Line(args[0]), plaintext.Line(args[1]))
			case len(args) > 0:
				return fmt.Errorf("unexpected %s: a PATH is for --git", plaintext.Line(args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	o.catalogs.addFlags(cmd)
	o.commits.AddFlags(cmd)
	o.charts.AddFlags(cmd)
	for _, flag := range []string{"file", "from-selection", "name", "from", "to"} {
		cmd.MarkFlagsMutuallyExclusive("git", flag)
	}
	o.addFlags(cmd)
	return cmd
}

func (o *diffOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "`FILE` for --live, instead of kubectl's")
	f.StringVar(&o.kubeContext, "context", "", "`NAME` of the context in the kubeconfig")
	f.StringVar(&o.markdown, "markdown", "", "`FILE` for the report in Markdown as well")
	f.BoolVar(&o.view.Stat, "stat", false, "a line for each application, no details")
	f.BoolVarP(&o.view.Verbose, "verbose", "v", false, "list the notes")
	clusterflags.CompleteContexts(cmd)
	_ = cmd.MarkFlagFilename("kubeconfig")
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML, output.FormatMarkdown)
	o.output.Alias = output.FormatText
	o.failOn.Add(cmd, diffview.ConditionNames())
}

func (o *diffOptions) run(ctx context.Context, paths []string, stdin io.Reader, stdout io.Writer) error {
	report, err := o.compare(ctx, paths, stdin)
	if err != nil {
		return output.Unusable(err)
	}
	if o.markdown != "" {
		var text bytes.Buffer
		diffview.Markdown(&text, report, o.view.Stat)
		if err := os.WriteFile(o.markdown, text.Bytes(), 0o600); err != nil {
			return output.Unusable(err)
		}
	}
	return diffview.Write(stdout, report, diffview.Options{
		Format: o.output.Value, View: o.view, FailOn: o.failOn.Names,
	})
}

func (o *diffOptions) compare(ctx context.Context, paths []string, stdin io.Reader) (*diff.Report, error) {
	if err := o.commits.Check(o.failOn.Names, o.commits.Git != ""); err != nil {
		return nil, err
	}
	if o.commits.Git == "" {
		if len(o.commits.Repositories) > 0 {
			return nil, errors.New("--repository is for --git")
		}
		if err := o.catalogs.check(); err != nil {
			return nil, err
		}
	}
	observe, err := o.observer(ctx)
	switch {
	case err != nil:
		return nil, err
	case o.commits.Git == "":
		return o.catalogs.compare(ctx, stdin, observe)
	}
	return o.commits.Compare(ctx, paths, &o.catalogs.access, func(ctx context.Context, from, to *comparing.Side, out *diff.Selection) error {
		err := observe(ctx, from, to, out)
		if errors.Is(err, comparison.ErrAnnotation) { // other selections have a report
			out.Refuse(err)
			err = nil
		}
		return err
	})
}

// observer returns what is observed of two states: the cluster of --live, and the charts of --charts.
func (o *diffOptions) observer(ctx context.Context) (comparing.Observer, error) {
	var all []comparing.Observer
	switch {
	case o.catalogs.live:
		cluster, err := live.Open(o.kubeconfig, o.kubeContext)
		if err != nil {
			return nil, err
		}
		all = append(all, cluster.Observe)
	case o.kubeconfig != "" || o.kubeContext != "":
		return nil, errors.New("--kubeconfig and --context are for --live")
	}
	switch {
	case o.charts.IsSet():
		renderer, err := o.charts.Renderer(ctx, &o.catalogs.access)
		if err != nil {
			return nil, err
		}
		all = append(all, comparison.New(renderer).Observe)
	case slices.Contains(o.failOn.Names, diff.RiskCondition):
		return nil, errors.New("--fail-on risk is for --charts: pass both")
	}
	return func(ctx context.Context, from, to *comparing.Side, out *diff.Selection) error {
		for _, observe := range all {
			if err := observe(ctx, from, to, out); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
