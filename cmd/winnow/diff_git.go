package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/selection"
)

// Which of the states an error is about.
const (
	beforePrefix = "before: "
	afterPrefix  = "after: "
)

// gitComparison compares two commits of a GitOps repository.
type gitComparison struct {
	base, head gitops
	plainHTTP  bool
	live       *liveCluster
	// pulled are catalogs by what and which directory of it was asked for.
	pulled map[string]selection.Source
	// placements are of the selections that were rendered.
	placements []placement
}

// compareCommits compares what the commits of --git say.
func (o *diffOptions) compareCommits(ctx context.Context, paths []string) (*diff.Report, error) {
	base, head, err := git{}.commits(ctx, o.git)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for i := range paths {
		if paths[i], err = (git{}).root(ctx, paths[i]); err != nil {
			return nil, err
		}
	}
	cluster, err := o.cluster()
	if err != nil {
		return nil, err
	}
	c := &gitComparison{plainHTTP: o.plainHTTP, live: cluster, pulled: map[string]selection.Source{}}
	var before, after bool
	if c.base, before, err = readGitOps(ctx, base, paths); err != nil {
		return nil, err
	}
	if c.head, after, err = readGitOps(ctx, head, paths); err != nil {
		return nil, err
	}
	if !before && !after {
		return nil, fmt.Errorf("neither commit has anything at %s", paths[0])
	}
	report := diff.New()
	report.From, report.To = base, head
	report.Notes = append(report.Notes, c.head.notes...)
	for _, note := range c.base.notes {
		if !slices.Contains(c.head.notes, note) {
			report.Notes = append(report.Notes, beforePrefix+note)
		}
	}
	return report, c.compare(ctx, report)
}

// pair is a selection in both commits; nil where it is not.
type pair struct{ from, to *placedSelection }

// pairs finds the selections of both commits that are the same one: by file and name, or, when a
// file was moved, by name alone.
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
		if from := take(func(s placedSelection) bool { return s.file == to.file && sameName(s, to) }); from != nil {
			all = append(all, pair{from, &to})
		} else {
			fresh = append(fresh, to)
		}
	}
	for _, to := range fresh {
		all = append(all, pair{take(func(s placedSelection) bool { return sameName(s, to) }), &to})
	}
	for _, from := range base {
		all = append(all, pair{from: &from})
	}
	slices.SortFunc(all, func(a, b pair) int {
		x, y := a.any(), b.any()
		return cmp.Or(cmp.Compare(x.file, y.file), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
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
		compared, err := c.selection(ctx, p)
		if err != nil {
			return err
		}
		if compared == nil {
			same++
			continue
		}
		compared.File = p.any().file
		report.Selections = append(report.Selections, compared)
	}
	findMoves(c.placements)
	if same > 0 {
		report.Notes = append(report.Notes, count(same, "CatalogSelection")+" with the same spec and sources in both commits")
	}
	return nil
}

// selection returns nil when the commits say the same.
func (c *gitComparison) selection(ctx context.Context, p pair) (*diff.Selection, error) {
	out := diff.NewSelection(p.any().CatalogSelection)
	if p.from != nil && p.to != nil && p.to.invalid == nil {
		out.Loosened = diff.Loosen(p.from.CatalogSelection, p.to.CatalogSelection, true)
	}
	var before, after []reference
	var unknown []string
	if p.from != nil {
		before, unknown = c.base.resolve(*p.from)
		out.Unknown = append(out.Unknown, unknown...)
	}
	if p.to != nil {
		after, unknown = c.head.resolve(*p.to)
		out.Unknown = append(out.Unknown, unknown...)
	}
	if p.from != nil && p.to != nil && p.to.invalid == nil && slices.Equal(before, after) && equality.Semantic.DeepEqual(p.from.Spec, p.to.Spec) {
		return nil, nil
	}
	if len(out.Unknown) > 0 {
		out.Unknown = slices.Compact(out.Unknown)
		return out, nil
	}
	return c.rendered(ctx, p, before, after, out)
}

// rendered compares the states that the references lead to. out is returned when one of them is invalid.
func (c *gitComparison) rendered(ctx context.Context, p pair, before, after []reference, out *diff.Selection) (*diff.Selection, error) {
	from, err := c.side(ctx, p.from, before)
	if failed(out, beforePrefix, err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	to, err := c.side(ctx, p.to, after)
	if failed(out, afterPrefix, err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	if out, err = c.judge(ctx, p, from, to, after); err != nil {
		return nil, err
	}
	c.placements = append(c.placements, placementOf(p, out, from, to))
	if from != nil && to != nil && out.SpecChanged {
		err = c.between(ctx, p, sides{from, to}, before, after, out)
	}
	return out, err
}

// failed notes the error of an input that is invalid.
func failed(out *diff.Selection, when string, err error) bool {
	var invalid *render.Error
	if !errors.As(err, &invalid) {
		return false
	}
	out.Error = when + err.Error()
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
	if p.from != nil && p.to != nil && p.from.file != p.to.file {
		out.Notes = append(out.Notes, "moved from "+p.from.file)
	}
	if p.to == nil {
		out.Notes = append(out.Notes, "its ExternalArtifact goes with it; its Kustomization keeps what is applied")
		return out, nil
	}
	if p.to.Namespace == "" && approvesRender(out.Held) {
		out.Notes = append(out.Notes, unknownNamespace)
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
		pulled, err := c.pull(ctx, r, ref)
		if err != nil {
			return nil, err
		}
		kind, name := guard.SourceKey(placed, ref)
		sources[i] = guard.Source{Kind: kind, Name: name, Path: ref.Path, Checksum: pulled.Digest, Catalog: pulled.Catalog}
	}
	return diff.Render(ctx, placed, sources)
}

// reason says why a selection cannot be rendered; nil for none.
func (s *placedSelection) reason() error {
	if s == nil {
		return nil
	}
	return s.invalid
}

// pull loads a catalog once. Without TLS only if both the OCIRepository and the flag say so: what
// a pull request says alone must not send credentials in the clear.
func (c *gitComparison) pull(ctx context.Context, r reference, ref v1alpha1.SourceReference) (selection.Source, error) {
	key := r.catalog + " " + ref.Format + " " + ref.Path
	if found, ok := c.pulled[key]; ok {
		return found, nil
	}
	pulled, err := openSource(ctx, r.catalog, ref, c.plainHTTP && r.plainHTTP)
	if err == nil {
		c.pulled[key] = pulled
	}
	return pulled, err
}
