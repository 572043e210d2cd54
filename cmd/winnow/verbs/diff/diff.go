// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/diff/diffview"
	"github.com/winnow-dev/winnow/render/diff"
)

// diffOptions are the flags of winnow diff.
type diffOptions struct {
	catalogs catalogOptions
	commits  input.Commits

	kubeconfig, kubeContext string

	stat   bool
	failOn conditions
	output *flags.Choice
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
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest].\n" +
			"Only a catalog in a registry has the digest that approves held changes.\n\n" +
			"Without -f, two catalogs are compared using a selection of all applications, as\n" +
			"in a pull request of a catalog repository.\n\n" +
			"With --git BASE..HEAD [PATH...] two commits of a GitOps repository are compared,\n" +
			"with BASE...HEAD from the merge base of both to HEAD. From the PATH of a\n" +
			"cluster on, the Kustomizations of Flux are followed and built as Flux does, and\n" +
			"the catalogs that the result names are pulled. A directory with a\n" +
			"kustomization.yaml that no Kustomization applies is built as well; other YAML\n" +
			"files are read unchanged. Nothing else is fetched. A GitRepository is this\n" +
			"repository if a remote has its URL; --repository names others.\n\n" +
			"--fail-on takes\n\n" + conditionTable() + "\n" +
			"--live reads the definitions of a cluster, as kubectl would, and adds their\n" +
			"losses when the selection begins to hold them. Without --from and\n" +
			"--from-selection, a first publication is compared with the live definitions.\n\n" +
			"Exit codes: 0 compared, 1 something of --fail-on was found, or --git found an\n" +
			"invalid selection or catalog in HEAD, 2 usage, I/O or another invalid input.",
		Example: diffExamples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && o.commits.Git == "" {
				return fmt.Errorf("unexpected %s: a PATH is for --git", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	o.catalogs.addFlags(cmd)
	o.commits.AddFlags(cmd)
	for _, flag := range []string{"file", "from-selection", "name", "from", "to"} {
		cmd.MarkFlagsMutuallyExclusive("git", flag)
	}
	f := cmd.Flags()
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "`FILE` for --live, instead of kubectl's")
	f.StringVar(&o.kubeContext, "context", "", "`NAME` of the context in it")
	f.BoolVar(&o.stat, "stat", false, "a line for each application, no details")
	flags.CompleteContexts(cmd)
	_ = cmd.MarkFlagFilename("kubeconfig")
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML, output.FormatMarkdown)
	o.output.Alias = output.FormatText
	o.failOn.add(cmd)
	return cmd
}

func (o *diffOptions) run(ctx context.Context, paths []string, stdin io.Reader, stdout io.Writer) error {
	report, err := o.compare(ctx, paths, stdin)
	if err != nil {
		return output.Unusable(err)
	}
	if o.output.Value == output.FormatJSON || o.output.Value == output.FormatYAML {
		report.Classes = report.Classified()
		if o.stat {
			report.Shorten()
		}
	}
	if err := output.Write(stdout, o.output.Value, diffView{report, o.stat}); err != nil {
		return err
	}
	found := report.Trips(o.failOn.names)
	if len(found) > 0 {
		found[0] = "--fail-on " + found[0]
	}
	found = append(found, diffview.Invalid(report, selections.AfterPrefix)...)
	if len(found) > 0 {
		return output.Finding(errors.New(strings.Join(found, "; ")))
	}
	return nil
}

// diffView prints a report in the formats of -o.
type diffView struct {
	*diff.Report
	// stat leaves out the details.
	stat bool
}

func (v diffView) Table(w io.Writer) { diffview.Text(w, v.Report, v.stat) }

func (v diffView) Markdown(w io.Writer) { diffview.Markdown(w, v.Report, v.stat) }

func (o *diffOptions) compare(ctx context.Context, paths []string, stdin io.Reader) (*diff.Report, error) {
	switch {
	case o.commits.Git != "":
		cluster, err := o.cluster()
		if err != nil {
			return nil, err
		}
		return o.commits.Compare(ctx, paths, &o.catalogs.access, cluster.Compare)
	case len(o.commits.Repositories) > 0:
		return nil, errors.New("--repository is for --git")
	}
	return o.catalogs.compare(ctx, stdin, o.cluster)
}

// cluster opens the cluster of --live. It returns nil without the flag.
func (o *diffOptions) cluster() (*live.Cluster, error) {
	switch {
	case o.catalogs.live:
		return live.Open(o.kubeconfig, o.kubeContext)
	case o.kubeconfig != "" || o.kubeContext != "":
		return nil, errors.New("--kubeconfig and --context are for --live")
	}
	return nil, nil
}

// conditions is the value of --fail-on: names of diff.Conditions.
type conditions struct{ names []string }

func (c *conditions) add(cmd *cobra.Command) {
	cmd.Flags().Var(c, "fail-on", "exit with 1 on `WHAT`, several with commas")
	// The only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(conditionNames(), cobra.ShellCompDirectiveNoFileComp))
}

func conditionTable() string {
	var table strings.Builder
	for _, condition := range diff.Conditions() {
		fmt.Fprintf(&table, "    %-16s %s\n", condition.Name, condition.Summary)
	}
	return table.String()
}

func conditionNames() []string {
	var names []string
	for _, condition := range diff.Conditions() {
		names = append(names, condition.Name)
	}
	return names
}

// String is part of pflag.Value.
func (c *conditions) String() string { return strings.Join(c.names, ",") }

// Type is part of pflag.Value.
func (c *conditions) Type() string { return "strings" }

// Set is part of pflag.Value.
func (c *conditions) Set(value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if !slices.Contains(conditionNames(), name) {
			return fmt.Errorf("%q is none of %s", name, strings.Join(conditionNames(), ", "))
		}
		c.names = append(c.names, name)
	}
	return nil
}
