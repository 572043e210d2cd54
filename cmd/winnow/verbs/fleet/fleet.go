// SPDX-License-Identifier: Apache-2.0

// Package fleet is winnow fleet: it lists the clusters of stages with what their receipts tell. A receipt only warns: nothing in it
// approves or releases anything. It must not reach a cluster, or write anywhere.
package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/commits"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/observed"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt/pulling"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// options are the flags of winnow fleet.
type options struct {
	access          flags.Access
	name            string
	maxAge, timeout time.Duration
	failOn          flags.FailOn
	output          *flags.Choice
	// now is the clock that ages are measured by.
	now func() time.Time
}

// New returns winnow fleet, with a clock.
func New(now func() time.Time) *cobra.Command {
	o := options{now: now}
	cmd := &cobra.Command{
		Use:   "fleet oci://HOST/REPOSITORY STAGE...",
		Short: "List the clusters of stages with what their receipts tell",
		Long: "List the clusters of stages with what they have applied, problems first, by the\n" +
			"receipts in oci://HOST/REPOSITORY/CLUSTER:latest, which winnow receipt pushes.\n" +
			"The artifact of the stage is pulled and compared with them.\n\n" +
			"STAGE is a file or directory with one OCIRepository in the commit HEAD, as for\n" +
			"winnow promote. Its clusters have a public key in clusters/ beside that file:\n" +
			"clusters/berlin.pub is the key of the cluster berlin.\n\n" +
			"PROBLEM is one or several of these, and - for none:\n" +
			"    forged           not signed with the key of the cluster, of another one,\n" +
			"                     or of the future\n" +
			"    unreadable       the registry does not answer or refuses the account, or\n" +
			"                     the receipt needs a newer winnow\n" +
			"    missing          there is no receipt\n" +
			"    foreign          the cluster runs a digest that Git never named for the\n" +
			"                     stage, in the last 1,000 changes of the file\n" +
			"    differs          the cluster lacks objects of the artifact that it has\n" +
			"                     applied, or a definition has other versions\n" +
			"    unhealthy        a Kustomization of the stage is not ready, or there is none\n" +
			"    unknown          what the cluster has is not compared: the artifact cannot\n" +
			"                     be read, the receipt is of an older winnow, or the\n" +
			"                     Kustomizations have patches, or different artifacts\n" +
			"    stale            the receipt was signed before --max-age\n" +
			"    bypassed         definitions have a bypass: Flux does not update them\n" +
			"    behind           the cluster runs a digest that Git named earlier\n\n" +
			"READY, VERSION and AGE come from the receipt. A receipt only warns: no verb\n" +
			"permits anything because of it. --fail-on takes these names, or any, for a job\n" +
			"that promotes only what runs.\n\n" +
			"Exit codes: 0 done, 1 something of --fail-on was found, 2 usage or I/O, or a\n" +
			"receipt is unreadable.",
		Example: "  winnow fleet oci://registry.example.com/receipts spokes/staging \\\n" +
			"    spokes/production\n\n" +
			"  # promote what every cluster of staging runs, and is healthy with\n" +
			"  winnow fleet oci://registry.example.com/receipts spokes/staging \\\n" +
			"    --fail-on any &&\n" +
			"    winnow promote --git spokes/staging spokes/production --min-age 24h",
		Args: flags.Arguments(2, maxStages, oci.Scheme+"HOST/REPOSITORY and STAGE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], args[1:], flags.StreamsOf(cmd))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "`NAME` of the OCIRepository, of several")
	f.DurationVar(&o.maxAge, "max-age", pulling.MaxAge, "a receipt is stale after `AGE`")
	f.DurationVar(&o.timeout, "timeout", pulling.Timeout, "give up after `DURATION`")
	flags.CompleteNothing(cmd, "name", "max-age", "timeout")
	o.access.AddFlags(cmd)
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatWide, output.FormatJSON, output.FormatYAML)
	o.failOn.Add(cmd, problems())
	return cmd
}

const maxStages = 100

func (o *options) run(ctx context.Context, address string, arguments []string, out output.Streams) error {
	if o.maxAge <= 0 || o.timeout <= 0 {
		return errors.New("--max-age and --timeout: use durations above 0, such as 1h")
	}
	below, err := o.access.ConnectBelow(ctx, address)
	if err != nil {
		return err
	}
	git := repository.Git{}
	commit, err := git.Commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	var all []observed.Stage
	err = git.ReadTree(ctx, commit, func(tree *repository.Tree) error {
		all, err = o.find(ctx, tree, arguments)
		return err
	})
	if err != nil {
		return err
	}
	f := newFleet()
	f.now, f.width = o.now(), output.WidthOf(out.Stdout)
	receipts, err := pulling.Pull(ctx, below, observed.ClustersOf(all), f.now, o.timeout)
	if err != nil {
		return err
	}
	f.Clusters, err = observed.Observer{Rendered: commits.Rendered(&o.access), Git: git, Commit: commit, Now: f.now, MaxAge: o.maxAge}.Observe(ctx, all, receipts)
	if err != nil {
		return err
	}
	// The worst problems come first. Equal ones keep the order of the stages and of the names of clusters.
	slices.SortStableFunc(f.Clusters, func(a, b *observed.Cluster) int { return a.Rank() - b.Rank() })
	output.PrintNote(out.Notes, f.verdict())
	if err := output.Write(out.Stdout, o.output.Value, f); err != nil {
		return err
	}
	return f.err(o.failOn.Names)
}

// find returns the stages with their clusters.
func (o *options) find(ctx context.Context, tree *repository.Tree, arguments []string) (all []observed.Stage, err error) {
	for _, argument := range arguments {
		s := observed.Stage{Label: argument}
		s.Placed, err = stages.Find(ctx, tree, argument, o.name, true)
		if err == nil {
			s.Clusters, err = stages.Clusters(tree, s.Placed)
		}
		if err != nil {
			return nil, fmt.Errorf("STAGE %s: %w", argument, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// Fleet is what winnow fleet prints.
type Fleet struct {
	output.Document

	// Clusters, problems first, then by stage.
	Clusters []*observed.Cluster `json:"clusters"`

	now   time.Time
	width int
}

// Documents returns the documents that the verb prints.
func Documents() []any { return []any{newFleet()} }

func newFleet() *Fleet {
	return &Fleet{Document: output.NewDocument("Fleet"), Clusters: []*observed.Cluster{}}
}

// anyProblem is the word of --fail-on for all problems.
const anyProblem = "any"

// problems returns the words of --fail-on. A receipt that cannot be read is an error.
func problems() []string {
	names := slices.DeleteFunc(observed.Names(), func(name string) bool { return name == observed.Unreadable })
	return append(names, anyProblem)
}

// leastMessage is the least width of the column MESSAGE.
const leastMessage = 20

// Table implements output.View.
func (f *Fleet) Table(w io.Writer) {
	g := f.grid()
	g.CutLast(f.width, leastMessage)
	g.Print(w)
}

// Wide prints messages as a whole, and digests.
func (f *Fleet) Wide(w io.Writer) {
	g := f.grid()
	at := len(g.Header) - 1
	g.Header = slices.Insert(g.Header, at, "DIGEST")
	for i, c := range f.Clusters {
		g.Rows[i] = slices.Insert(g.Rows[i], at, output.OrDash(c.Digest))
	}
	g.Print(w)
}

func (f *Fleet) grid() output.Grid {
	g := output.Grid{Header: []string{"CLUSTER", "STAGE", "PROBLEM", "VERSION", "READY", "AGE", "MESSAGE"}}
	for _, c := range f.Clusters {
		var names, messages []string
		for _, p := range c.Problems {
			names, messages = append(names, p.Name), append(messages, p.Message)
		}
		age := ""
		if c.Receipt != nil {
			age = duration.HumanDuration(max(f.now.Sub(c.Receipt.Time), 0))
		}
		g.Rows = append(g.Rows, []string{
			c.Name, c.Stage, output.OrDash(strings.Join(names, ",")), output.OrDash(cmp.Or(c.Version, short(c.Digest))), output.OrDash(string(c.Ready)),
			output.OrDash(age), strings.Join(messages, "; "),
		})
	}
	return g
}

// short returns the beginning of a digest, as Flux shows it, and of a longer text.
func short(digest string) string {
	const shown = len("sha256:") + 12
	return digest[:min(len(digest), shown)]
}

// verdict returns a line with the numbers.
func (f *Fleet) verdict() string {
	fine := len(f.Clusters) - len(f.with(anyProblem))
	parts := []string{fmt.Sprintf("%s, %d without problems", plaintext.Count(len(f.Clusters), "cluster"), fine)}
	for _, name := range observed.Names() {
		if found := f.with(name); len(found) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", len(found), name))
		}
	}
	return strings.Join(parts, ", ")
}

// with returns the clusters with a problem.
func (f *Fleet) with(problem string) []*observed.Cluster {
	return slices.DeleteFunc(slices.Clone(f.Clusters), func(c *observed.Cluster) bool {
		return !c.Has(problem) && (problem != anyProblem || len(c.Problems) == 0)
	})
}

// err returns the error for clusters whose receipts cannot be read, and a finding for what --fail-on names.
func (f *Fleet) err(failOn []string) error {
	const listed = 10
	name := func(c *observed.Cluster) string { return c.Name }
	if found := f.with(observed.Unreadable); len(found) > 0 {
		return fmt.Errorf("the receipts of %s cannot be read: %s: %w", plaintext.Count(len(found), "cluster"), excerpt.List(found, listed, name), found[0].Failure)
	}
	var tripped []string
	for _, problem := range failOn {
		if found := f.with(problem); len(found) > 0 {
			tripped = append(tripped, problem+": "+excerpt.List(found, listed, name))
		}
	}
	if len(tripped) > 0 {
		return output.Finding(errors.New("--fail-on " + strings.Join(tripped, "; ")))
	}
	return nil
}
