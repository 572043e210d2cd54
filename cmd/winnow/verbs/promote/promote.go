// SPDX-License-Identifier: Apache-2.0

// Package promote is winnow promote: it writes the digest of a stage into another one, and shows what that changes. It must not
// write to a cluster or a registry.
package promote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/diffview"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/commits"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// options are the flags of winnow promote.
type options struct {
	access       flags.Access
	repositories []string
	name         string
	minAge       time.Duration
	approve      bool
	view         diffview.View
	failOn       flags.FailOn
	receipts     commits.Receipts
	output       *flags.Choice
	// now is the time that ages are measured at.
	now func() time.Time
}

// New returns winnow promote.
func New() *cobra.Command {
	o := options{now: time.Now}
	cmd := &cobra.Command{
		Use:   "promote --git FROM TO...",
		Short: "Write the digest of a stage into another, and show what it changes",
		Long: "Write the digest of a stage into other ones, and show what that changes there,\n" +
			"as winnow diff --git does.\n\n" +
			"A stage is the line ref.digest of an OCIRepository in Git, whose artifact Winnow\n" +
			"has rendered and a Kustomization applies. FROM and TO are files, or directories\n" +
			"with one stage at or below them. FROM may also be an artifact in a registry,\n" +
			"oci://host/repository[:tag|@digest], for the first stage.\n\n" +
			"The files of TO in the working directory get the digest, and keep all other\n" +
			"bytes. They have to be as in HEAD. Nothing is committed.\n\n" +
			"What the promotion would lose of what TO runs is held. --approve adds the\n" +
			"lines that name it to the annotation " + v1alpha1.ApproveAnnotation + " of\n" +
			"the OCIRepository, in the same commit.\n\n" +
			"With --min-age, FROM must have had its digest for that time: since the commit\n" +
			"that wrote it, by the clock of its committer. Otherwise nothing is written.\n\n" +
			"--fail-on takes what it takes in winnow diff, such as held,unknown. The files\n" +
			"are written all the same.\n\n" +
			"Exit codes: 0 done, 1 something of --fail-on was found, or FROM is too young or\n" +
			"has zeros, 2 usage, I/O or another invalid input.",
		Example: "  # what ran in staging for a day\n" +
			"  winnow promote --git spokes/staging spokes/production --min-age 24h \\\n" +
			"    --fail-on held,unknown\n\n" +
			"  # the first stage, from what the hub has pushed\n" +
			"  winnow promote --git oci://registry.example.com/rendered/datacenter:latest \\\n" +
			"    spokes/staging",
		Args: flags.Arguments(2, maxStages, "FROM and TO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], args[1:], flags.StreamsOf(cmd))
		},
	}
	f := cmd.Flags()
	f.Bool("git", false, "edit the Git repository here (the default)")
	f.StringArrayVar(&o.repositories, "repository", nil, "`NAME=DIR` of a source that is this repository")
	f.StringVar(&o.name, "name", "", "`NAME` of the OCIRepository, of several")
	f.DurationVar(&o.minAge, "min-age", 0, "`AGE` of the digest of FROM, such as 24h")
	f.BoolVarP(&o.view.Verbose, "verbose", "v", false, "list the notes")
	f.BoolVar(&o.approve, "approve", false, "name what is held")
	o.access.AddFlags(cmd)
	o.receipts.AddFlag(cmd)
	flags.CompleteNothing(cmd, "repository", "name", "min-age")
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML, output.FormatMarkdown)
	o.output.Alias = output.FormatText
	o.failOn.Add(cmd, diffview.ConditionNames(diff.RiskCondition))
	return cmd
}

// maxStages bounds the arguments.
const maxStages = 1_000

// run promotes FROM to each TO.
func (o *options) run(ctx context.Context, from string, to []string, out output.Streams) error {
	if o.minAge < 0 {
		return fmt.Errorf("--min-age %s: give a time that is not negative, such as 24h", o.minAge)
	}
	if err := o.receipts.Check(o.failOn.Names, true); err != nil {
		return err
	}
	commit, err := repository.Git{}.Commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	source, err := o.source(ctx, commit, from, out)
	if err != nil {
		return err
	}
	edits := map[string]*files.Edit{}
	for _, name := range to {
		if err := o.addTo(ctx, commit, edits, source, name); err != nil {
			return err
		}
	}
	if o.minAge > 0 {
		if err := o.checkAge(ctx, commit, source); err != nil {
			return err
		}
	}
	if o.output.Value == output.FormatTable && !slices.ContainsFunc(slices.Collect(maps.Values(edits)), (*files.Edit).IsChanged) {
		return write(ctx, edits, out) // there is nothing to compare
	}
	report, err := o.report(ctx, commit, edits, source.digest)
	if err != nil {
		return output.Unusable(err)
	}
	if err := write(ctx, edits, out); err != nil {
		return err
	}
	return diffview.Write(out.Stdout, report, diffview.Options{Format: o.output.Value, View: o.view, FailOn: o.failOn.Names})
}

// report compares the commit with the edits, to which it adds what names their losses.
func (o *options) report(ctx context.Context, commit string, edits map[string]*files.Edit, digest string) (*diff.Report, error) {
	rendered := commits.Rendered(&o.access)
	report, err := o.compare(ctx, commit, edits, rendered)
	if err == nil && o.approve && approveAll(report, edits) { // what is built of the commit may replace the annotation
		report, err = o.compare(ctx, commit, edits, rendered)
	}
	if err != nil {
		return nil, err
	}
	addUncompared(report, edits, digest)
	return report, o.receipts.AddUses(ctx, &o.access, report)
}

// compare compares the commit with the edits.
func (o *options) compare(ctx context.Context, commit string, edits map[string]*files.Edit, rendered *promotions.Registry) (*diff.Report, error) {
	contents := map[string][]byte{}
	for file, e := range edits {
		contents[file] = e.After
	}
	return selections.Compare(ctx, commit, commit, selections.Options{
		Paths: []string{"."}, Repositories: o.repositories, Edits: contents,
		Open: commits.OpenOfCommit(&o.access), Rendered: rendered,
	})
}

// approveAll adds the lines that name what the edits lose, and reports whether there are some.
func approveAll(report *diff.Report, edits map[string]*files.Edit) (any bool) {
	for _, s := range report.Held() {
		e := edits[s.Held.File]
		if s.Promotion == nil || e == nil {
			continue
		}
		_, digest, _ := strings.Cut(s.Promotion.To, "@")
		approved, _, err := stagefile.Approve(e.After, s.Name, digest, s.Held.Approve)
		if err != nil {
			s.Held.Advice = err.Error()
			continue
		}
		e.After, any = approved, true
	}
	return any
}

// addUncompared adds what was edited and nothing applies.
func addUncompared(report *diff.Report, edits map[string]*files.Edit, digest string) {
	compared := slices.ContainsFunc(report.Selections, func(s *diff.Selection) bool {
		return s.Promotion != nil && strings.HasSuffix(s.Promotion.To, "@"+digest)
	})
	if compared || len(report.Unknown) > 0 {
		return
	}
	for _, file := range slices.Sorted(maps.Keys(edits)) {
		if !edits[file].IsChanged() {
			continue
		}
		report.Places[file] = true
		report.Unknown = append(report.Unknown, file+": no Kustomization of this repository applies its OCIRepository, so that nothing is compared")
	}
}

// write writes the files.
func write(ctx context.Context, edits map[string]*files.Edit, out output.Streams) error {
	sorted := each.Map(slices.Sorted(maps.Keys(edits)), func(file string) *files.Edit { return edits[file] })
	return files.Save(ctx, func(line string) { output.PrintNote(out.Notes, line) }, sorted...)
}

// source is where the digest comes from.
type source struct {
	// argument names it. file is empty for one in a registry.
	argument, file string
	stage          stagefile.Stage
	digest         string
}

// source finds FROM.
func (o *options) source(ctx context.Context, commit, argument string, out output.Streams) (source, error) {
	if !strings.HasPrefix(argument, oci.Scheme) {
		found, err := o.find(ctx, commit, "FROM", argument)
		if err == nil {
			noteEdited(ctx, found.File, found.Stage, out)
			if _, hex, _ := strings.Cut(found.Digest, ":"); strings.Trim(hex, "0") == "" { // with this digest a stage begins
				err = output.Finding(fmt.Errorf("FROM %s has no digest yet, only zeros: promote an artifact to it first", argument))
			}
		}
		return source{argument: argument, file: found.File, stage: found.Stage, digest: found.Digest}, err
	}
	if o.minAge > 0 {
		return source{}, fmt.Errorf("--min-age needs a stage in Git as FROM: %s is an artifact in a registry, which does not say since when a cluster runs it", argument)
	}
	pulled, err := input.PullRendered(ctx, argument, &o.access)
	if err != nil {
		return source{}, err
	}
	if pulled.Result == nil {
		return source{}, output.Finding(fmt.Errorf("%s is no artifact that Winnow has rendered: %s", argument, pulled.Other))
	}
	reference, err := oci.ParseReference(argument)
	return source{argument: argument, stage: stagefile.Stage{URL: oci.Address(reference)}, digest: pulled.Digest}, err
}

// noteEdited prints a note if FROM has edits that are not committed, because they do not count. Where the working directory
// cannot be compared, there is none.
func noteEdited(ctx context.Context, file string, from stagefile.Stage, out output.Streams) {
	git := repository.Git{}
	name, err := git.WorkingFile(ctx, file)
	if err != nil {
		return
	}
	if edited, err := git.IsEdited(ctx, name); err == nil && edited {
		output.PrintNote(out.Notes, fmt.Sprintf("note: %s has edits that are not committed, which do not count: %s is what HEAD has", name, from.Digest))
	}
}

// find returns the only OCIRepository with a digest at a path of the commit.
func (o *options) find(ctx context.Context, commit, what, argument string) (found stages.Placed, err error) {
	err = repository.Git{}.ReadTree(ctx, commit, func(tree *repository.Tree) error {
		if found, err = stages.Find(ctx, tree, argument, o.name, false); err != nil {
			return fmt.Errorf("%s %s: %w", what, argument, err)
		}
		return nil
	})
	return found, err
}

// addTo adds the edit of TO.
func (o *options) addTo(ctx context.Context, commit string, edits map[string]*files.Edit, from source, argument string) error {
	found, err := o.find(ctx, commit, "TO", argument)
	file, stage := found.File, found.Stage
	switch {
	case err != nil:
		return err
	case file == from.file && stage.Line == from.stage.Line:
		return fmt.Errorf("FROM and TO are the same stage: %s in %s:%d", stage.FullName(), file, stage.Line)
	case stage.URL != "" && from.stage.URL != "" && strings.TrimSuffix(stage.URL, "/") != strings.TrimSuffix(from.stage.URL, "/"):
		return fmt.Errorf("TO %s pulls %s, and FROM %s pulls %s: a digest of one repository need not be in the other",
			argument, plaintext.Line(stage.URL), from.argument, plaintext.Line(from.stage.URL))
	}
	e := edits[file]
	if e == nil {
		if e, err = openEdit(ctx, file); err != nil {
			return err
		}
		edits[file] = e
	}
	if stage.Digest == from.digest {
		e.Lines = append(e.Lines, fmt.Sprintf("%s:%d: %s has %s already", e.Name, stage.DigestLine, stage.FullName(), from.digest))
		return nil
	}
	if e.After, err = stage.SetDigest(e.After, from.digest); err != nil {
		return fmt.Errorf("%s:%d: %w", e.Name, stage.Line, err)
	}
	e.Lines = append(e.Lines, fmt.Sprintf("%s:%d: %s is promoted from %s to %s", e.Name, stage.DigestLine, stage.FullName(), stage.Digest, from.digest))
	return nil
}

// openEdit reads a file of the working directory, which has to be as in HEAD.
func openEdit(ctx context.Context, file string) (*files.Edit, error) {
	git := repository.Git{}
	name, err := git.WorkingFile(ctx, file)
	if err == nil {
		err = git.SameAsHead(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	return files.OpenEdit(name)
}

// checkAge returns an error unless FROM has its digest for long enough.
func (o *options) checkAge(ctx context.Context, commit string, from source) error {
	if from.stage.Suspended {
		return output.Finding(fmt.Errorf("FROM %s is suspended, so that it has not pulled its digest: resume it; --min-age counts from the commit that does", from.argument))
	}
	git := repository.Git{}
	since, err := git.Since(ctx, commit, from.file, func(content []byte) bool {
		found, err := stagefile.Find(content)
		return err == nil && slices.ContainsFunc(found, func(s stagefile.Stage) bool {
			return s.FullName() == from.stage.FullName() && s.Digest == from.digest && !s.Suspended
		})
	})
	if err != nil {
		return err
	}
	age := o.now().Sub(since.At)
	if age >= o.minAge {
		return nil
	}
	text := fmt.Sprintf("FROM %s has its digest since %s, by the commit %s, and so for %s: --min-age is %s, so promote it after %s",
		from.argument, since.At.Format(time.RFC3339), repository.Short(since.Commit), age.Round(time.Second), o.minAge, since.At.Add(o.minAge).Format(time.RFC3339))
	if git.IsShallow(ctx) {
		text += "; this clone is shallow, so that the digest may be older: fetch the history"
	}
	return output.Finding(errors.New(text))
}
