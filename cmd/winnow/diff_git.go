package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
)

// Which of the states an error is about.
const (
	beforePrefix = "before: "
	afterPrefix  = "after: "
)

// gitComparison compares two commits of a GitOps repository.
type gitComparison struct {
	base, head revision
	plainHTTP  bool
	live       *liveCluster
	// elsewhere are files that differ and are not looked at.
	elsewhere []gitops.File
	// pulled are catalogs by what and which directory of it was asked for.
	pulled map[string]pulledCatalog
	// placements are of the selections that were rendered.
	placements []placement
}

// addGit adds the flags of a Git repository.
func (o *diffOptions) addGit(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.git, "git", "", "`BASE..HEAD` of the Git repository to compare")
	f.StringArrayVar(&o.repositories, "repository", nil, "`NAME=DIR` of a source that is this repository")
	for _, flag := range []string{"file", "from-selection", "name", "from", "to"} {
		cmd.MarkFlagsMutuallyExclusive("git", flag)
	}
}

// compareCommits compares what the commits of --git apply.
func (o *diffOptions) compareCommits(ctx context.Context, paths []string) (*diff.Report, error) {
	base, head, err := gitops.Git{}.Commits(ctx, o.git)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for i := range paths {
		if paths[i], err = (gitops.Git{}).Root(ctx, paths[i]); err != nil {
			return nil, err
		}
	}
	cluster, err := o.cluster()
	if err != nil {
		return nil, err
	}
	compared, err := gitops.Compare(ctx, base, head, gitops.Options{Paths: paths, Repositories: o.repositories, Keep: mayMatter})
	if err != nil {
		return nil, err
	}
	if len(compared.Missing) > 0 {
		return nil, fmt.Errorf("neither commit has anything at %s", strings.Join(compared.Missing, ", "))
	}
	c := &gitComparison{
		plainHTTP: o.plainHTTP, live: cluster, pulled: map[string]pulledCatalog{},
		base: newRevision(ctx, compared.Base), head: newRevision(ctx, compared.Head),
		elsewhere: compared.Elsewhere,
	}
	report := diff.New()
	report.From, report.To = base, head
	report.Unknown = append(report.Unknown, compared.Unknown...)
	report.Notes = append(append(report.Notes, compared.Notes...), c.head.notes...)
	for _, note := range c.base.notes {
		if !slices.Contains(c.head.notes, note) {
			report.Notes = append(report.Notes, beforePrefix+note)
		}
	}
	c.skipped(report)
	return report, c.compare(ctx, report)
}

// pair is a selection in both commits; nil where it is not.
type pair struct{ from, to *placedSelection }

// pairs finds the selections of both commits that are the same one: in a cluster by name, elsewhere by
// file and name, or, when a file was moved, by name alone.
func (c *gitComparison) pairs() []pair {
	var all []pair
	base := slices.Clone(c.base.selections)
	take := func(same func(placedSelection) bool) *placedSelection {
		i := slices.IndexFunc(base, same)
		if i < 0 {
			return nil
		}
		found := base[i]
		base = slices.Delete(base, i, i+1)
		return &found
	}
	var fresh []placedSelection
	for _, to := range c.head.selections {
		if from := take(func(s placedSelection) bool {
			return s.cluster == to.cluster && (s.cluster != "" || s.file == to.file) && sameName(s, to)
		}); from != nil {
			all = append(all, pair{from, &to})
		} else {
			fresh = append(fresh, to)
		}
	}
	for _, to := range fresh {
		all = append(all, pair{take(func(s placedSelection) bool {
			return s.cluster == "" && to.cluster == "" && sameName(s, to)
		}), &to})
	}
	for _, from := range base {
		all = append(all, pair{from: &from})
	}
	slices.SortFunc(all, func(a, b pair) int {
		x, y := a.any(), b.any()
		return cmp.Or(cmp.Compare(x.cluster, y.cluster), cmp.Compare(x.file, y.file), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return all
}

func sameName(a, b placedSelection) bool { return a.Namespace == b.Namespace && a.Name == b.Name }

func (p pair) any() *placedSelection {
	if p.to != nil {
		return p.to
	}
	return p.from
}

func (c *gitComparison) compare(ctx context.Context, report *diff.Report) error {
	same := 0
	for _, p := range c.pairs() {
		consumed := c.consumption(p)
		consumed.unknown = append(consumed.unknown, c.resumed(p)...)
		compared, err := c.selection(ctx, p, consumed)
		if err != nil {
			return err
		}
		for _, sentence := range consumed.unknown {
			report.Unknown = append(report.Unknown, cmp.Or(p.any().cluster, p.any().file)+": "+sentence)
		}
		if compared == nil {
			same++
			continue
		}
		compared.Cluster, compared.File = p.any().cluster, p.any().file
		compared.Notes = append(compared.Notes, consumed.notes...)
		compared.Loosened = append(compared.Loosened, c.unverified(p)...)
		report.Selections = append(report.Selections, compared)
	}
	findMoves(c.placements)
	if same > 0 {
		report.Notes = append(report.Notes, plaintext.Count(same, "CatalogSelection")+" with the same spec and sources in both commits")
	}
	return nil
}

// selection returns nil when the commits say the same.
func (c *gitComparison) selection(ctx context.Context, p pair, consumed consumption) (*diff.Selection, error) {
	out := diff.NewSelection(p.any().CatalogSelection)
	if p.from != nil && p.to != nil && p.to.invalid == nil {
		out.Loosened = diff.Loosen(p.from.CatalogSelection, p.to.CatalogSelection, true)
	}
	var before, after []reference
	var unknown []string
	if p.from != nil {
		before, unknown = c.base.resolve(*p.from)
		out.Unknown = append(append(out.Unknown, p.from.unknown...), unknown...)
	}
	if p.to != nil {
		after, unknown = c.head.resolve(*p.to)
		out.Unknown = append(append(out.Unknown, p.to.unknown...), unknown...)
	}
	if p.isSame() && slices.Equal(before, after) && len(consumed.notes) == 0 {
		if out.Unknown = c.unseen(*p.to, after); len(out.Unknown) == 0 {
			return nil, nil
		}
	}
	if len(out.Unknown) > 0 {
		slices.Sort(out.Unknown)
		out.Unknown = slices.Compact(out.Unknown)
		out.Notes = append(out.Notes, p.placeNotes()...)
		return out, nil
	}
	return c.rendered(ctx, p, before, after, out)
}

// isSame reports whether both commits have the selection with the same spec.
func (p pair) isSame() bool {
	return p.from != nil && p.to != nil && p.to.invalid == nil && slices.Equal(p.from.unknown, p.to.unknown) && p.from.hidden == p.to.hidden &&
		equality.Semantic.DeepEqual(p.from.Spec, p.to.Spec)
}

// rendered compares the states that the references lead to. out is returned when one of them is invalid,
// or cannot be pulled.
func (c *gitComparison) rendered(ctx context.Context, p pair, before, after []reference, out *diff.Selection) (*diff.Selection, error) {
	from, errBefore := c.side(ctx, p.from, before)
	to, errAfter := c.side(ctx, p.to, after)
	lost := failed(out, beforePrefix, errBefore)
	if failed(out, afterPrefix, errAfter) || lost { // of two that are invalid, the newer one is told
		return out, ctx.Err()
	}
	compared, err := c.judge(ctx, p, from, to, after)
	if err != nil {
		return nil, err
	}
	c.placements = append(c.placements, placementOf(p, compared, from, to))
	if from != nil && to != nil && compared.SpecChanged {
		if err := c.between(ctx, p, sides{from, to}, before, after, compared); failed(out, "", err) {
			return out, ctx.Err()
		}
	}
	return compared, nil
}

// failed notes the error of an input: one that is invalid, or that cannot be had.
func failed(out *diff.Selection, when string, err error) bool {
	var invalid *render.Error
	switch {
	case err == nil:
		return false
	case errors.As(err, &invalid):
		out.Error = when + err.Error()
	default:
		out.Unknown = append(out.Unknown, when+err.Error())
	}
	return true
}

func (c *gitComparison) judge(ctx context.Context, p pair, from, to *diff.Side, after []reference) (*diff.Selection, error) {
	if from != nil && to != nil {
		to.Reviewed = from.Selection.Spec.Safeguards.Approve
	}
	out, err := compareSides(ctx, c.live, from, to)
	if err != nil {
		return nil, err
	}
	out.Notes = append(out.Notes, p.placeNotes()...)
	if p.to == nil {
		if len(c.base.consumersOf(p.from)) == 0 || len(c.head.consumersOf(p.from)) > 0 {
			out.Notes = append(out.Notes, "its ExternalArtifact goes with it; its Kustomization keeps what is applied")
		}
		return out, nil
	}
	if p.to.Namespace == "" {
		out.AssumeNamespace()
	}
	if p.to.Spec.Suspend {
		out.Notes = append(out.Notes, "it is suspended: nothing is published until it is resumed")
	}
	if slices.ContainsFunc(after, func(r reference) bool { return r.ignore }) {
		out.Notes = append(out.Notes, "spec.ignore of its OCIRepository is not looked at here")
	}
	return out, nil
}

// side renders a state; nil for none.
func (c *gitComparison) side(ctx context.Context, cs *placedSelection, references []reference) (*diff.Side, error) {
	if cs == nil || cs.invalid != nil {
		return nil, cs.reason()
	}
	placed := cs.DeepCopy()
	if placed.Namespace == "" {
		placed.Namespace = "default"
	}
	sources := make([]guard.Source, len(references))
	for i, r := range references {
		ref := placed.Spec.Sources[i]
		if err := r.demandVerified(ref); err != nil {
			return nil, err
		}
		pulled, err := c.pull(ctx, r, ref)
		if err != nil {
			return nil, err
		}
		kind, name := guard.SourceKey(placed, ref)
		sources[i] = guard.Source{Kind: kind, Name: name, Path: ref.Path, Checksum: pulled.Digest, Catalog: pulled.Catalog}
	}
	return diff.Render(ctx, placed, sources)
}
