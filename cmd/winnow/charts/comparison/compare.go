// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/charts"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/upgrades"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
	"github.com/winnow-dev/winnow/render/diff/schemadiff"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// Comparer compares the charts of selections.
type Comparer struct {
	renderer charts.Renderer
	// known are the upgrades that were looked at: clusters share them.
	known map[string]diff.Chart
}

// New returns a comparer with charts from the renderer.
func New(renderer charts.Renderer) *Comparer {
	return &Comparer{renderer: renderer, known: map[string]diff.Chart{}}
}

const (
	// batch is the number of upgrades that are rendered at once: what they render to is in memory.
	batch = 4
	// maxDiffs bounds the diffs of a selection, in bytes.
	maxDiffs = 1 << 20
)

// Observe is a comparing.Observer of the upgrades of charts. Without one of the states, nothing is upgraded.
func (c *Comparer) Observe(ctx context.Context, from, to *comparing.Side, out *diff.Selection) error {
	if from == nil || to == nil {
		return nil
	}
	ignored, err := readIgnored(to.Selection)
	if err != nil {
		return err
	}
	out.Loosened = append(out.Loosened, newlyIgnored(from.Selection, ignored)...)
	older, err := find(ctx, from)
	if err != nil {
		return fmt.Errorf("finding the charts before: %w", err)
	}
	newer, err := find(ctx, to)
	if err != nil {
		return fmt.Errorf("finding the charts after: %w", err)
	}
	s := state{ignored: ignored}
	if cs := to.Selection; cs != nil {
		options, err := render.FromSpec(cs)
		if err != nil {
			return err
		}
		s.kubeVersion = charts.KubeVersion(cs)
		if len(cs.Spec.Mirrors) > 0 {
			s.mirrorOf, s.mirrors = options.Transform.MirrorOfImage, fmt.Sprintf("%+v", cs.Spec.Mirrors)
		}
	}
	all := pairsOf(older, newer)
	for start := 0; start < len(all); start += batch {
		compared, err := c.compare(ctx, s, all[start:min(start+batch, len(all))])
		if err != nil {
			return err
		}
		out.Charts = append(out.Charts, compared...)
	}
	room := maxDiffs
	for i := range out.Charts {
		if v := out.Charts[i].Diff; v != nil {
			shown := *v
			shown.Cut(room)
			out.Charts[i].Diff, room = &shown, room-len(shown.Diff)
		}
	}
	return nil
}

// find returns the charts of a state.
func find(ctx context.Context, side *comparing.Side) ([]charts.Chart, error) {
	return charts.Find(ctx, charts.Input{Selected: side.Result.Selection.Applications(), Mirrored: side.Result})
}

// state is what all upgrades of a selection have in common.
type state struct {
	kubeVersion string
	mirrors     string
	mirrorOf    func(string) string
	ignored     ignored
}

// key identifies what an upgrade depends on.
func (s state) key(p pair) string {
	text := fmt.Sprintf("%q %q %+v %+v", s.kubeVersion, s.mirrors, with(p.before, p.beforeUse), with(p.after, p.afterUse))
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
}

// compare compares some pairs, in their order.
func (c *Comparer) compare(ctx context.Context, s state, pairs []pair) ([]diff.Chart, error) {
	var wanted []charts.Chart
	for _, p := range pairs {
		if _, known := c.known[s.key(p)]; !known && p.problem() == "" {
			upgraded := p.afterUse
			upgraded.IsUpgrade = true
			wanted = append(wanted, with(p.before, p.beforeUse), with(p.after, upgraded))
		}
	}
	renderer := c.renderer
	renderer.KubeVersion, renderer.FindUnread = s.kubeVersion, true
	rendered, err := renderer.Render(ctx, wanted)
	if err != nil {
		return nil, err
	}
	var all []diff.Chart
	for _, p := range pairs {
		key := s.key(p)
		compared, known := c.known[key]
		switch {
		case known:
		case p.problem() != "":
			compared = diff.Chart{Problem: p.problem(), IsFinding: p.before.Missing == "" && p.after.Missing != ""}
		default:
			compared = s.look(p, rendered[0], rendered[1])
			if was, is := rendered[0], rendered[1]; was.Failure == nil && is.Failure == nil && was.Schema != is.Schema {
				compared.Schema = schemadiff.WithoutDefaults(was.Schema, is.Schema) // Helm ignores its defaults
			}
			rendered = rendered[2:]
		}
		c.known[key] = compared
		compared.Application, compared.Instance, compared.From, compared.To = p.after.Application, p.afterUse.Instance, p.before.Version, p.after.Version
		all = append(all, s.ignored.mark(compared))
	}
	return all, nil
}

// with returns a chart with one set of values.
func with(c charts.Chart, use charts.Use) charts.Chart {
	c.Uses = []charts.Use{use}
	return c
}

// problem returns why a pair is not rendered, empty where it is.
func (p pair) problem() string {
	switch {
	case p.after.Missing != "":
		return p.after.Missing
	case p.before.Missing != "":
		return "before: " + p.before.Missing
	case !p.isSameRelease():
		return "it is another release: what runs is uninstalled, and installed anew"
	}
	return ""
}

// look compares what a pair renders to.
func (s state) look(p pair, before, after charts.Rendered) diff.Chart {
	switch problem := unrendered(after); {
	case problem != "":
		return diff.Chart{Problem: problem, IsFinding: after.Failure != nil || p.afterUse.Instance != ""}
	case unrendered(before) != "":
		return diff.Chart{Problem: "nothing to compare with: before, " + unrendered(before), IsFinding: before.Failure != nil}
	}
	was, is := before.Rendered[0].Mirrored, after.Rendered[0].Mirrored
	risks, changes, problems := upgrades.Upgrade{
		Before: was.Manifests, After: is.Manifests, Namespace: p.afterUse.Namespace, Unread: newlyUnread(was, is), MirrorOf: s.mirrorOf,
	}.Compare()
	c := diff.Chart{IsFinding: len(problems) > 0, Risks: risks, Added: changes.Added, Removed: changes.Removed, Changed: changes.Changed, Diff: changes.Diff}
	c.Notes = append(problems, is.Notes...)
	if p.afterUse.IsOpen {
		c.Notes = append(c.Notes, "values that only the cluster has are not read")
	}
	return c
}

// unrendered returns why a chart has no render, empty where it has one.
func unrendered(r charts.Rendered) string {
	if r.Failure != nil {
		return redact.Text(r.Failure.Error())
	}
	if refused := r.Rendered[0].Mirrored.Refused; refused != "" {
		return "it does not render: " + refused
	}
	return ""
}

// mark returns a chart with the reasons for which risks are ignored.
func (all ignored) mark(c diff.Chart) diff.Chart {
	c.Risks = each.Map(c.Risks, func(r diff.Risk) diff.Risk {
		r.Ignored = all[[2]string{c.Application, r.Rule}]
		return r
	})
	return c
}

// newlyUnread returns the values that only the newer chart does not read: what was not read before is nothing that an upgrade
// breaks.
func newlyUnread(before, after rendering.Render) []unread.Key {
	return slices.DeleteFunc(slices.Clone(after.Unread), func(key unread.Key) bool {
		return slices.ContainsFunc(before.Unread, func(old unread.Key) bool { return old.Name == key.Name })
	})
}

// pair is a chart with one set of values, before and after.
type pair struct {
	before, after       charts.Chart
	beforeUse, afterUse charts.Use
}

// pairsOf returns what is upgraded: the instances, and with the default values the versions that no instance has. A version that
// is new is compared with the one below it. What stays as it is has no pair.
func pairsOf(before, after []charts.Chart) (all []pair) {
	for _, newer := range after {
		for _, use := range newer.Uses {
			if use.Instance == "" {
				continue
			}
			if p, ok := ofInstance(before, newer, use); ok {
				all = append(all, p)
			}
		}
		if len(newer.Uses) > 0 && newer.Uses[0].Instance != "" {
			continue
		}
		if older := below(before, after, newer); older != nil {
			all = append(all, pair{*older, newer, older.Defaults, newer.Defaults})
		}
	}
	all = slices.DeleteFunc(all, pair.isSame)
	slices.SortStableFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.after.Application, b.after.Application), cmp.Compare(a.afterUse.Instance, b.afterUse.Instance))
	})
	return all
}

// ofInstance finds the chart that an instance had.
func ofInstance(before []charts.Chart, newer charts.Chart, use charts.Use) (pair, bool) {
	for _, older := range before {
		for _, was := range older.Uses {
			if was.Instance == use.Instance && older.Application == newer.Application {
				return pair{older, newer, was, use}, true
			}
		}
	}
	return pair{}, false
}

// below returns the chart of the same version, or else of the highest lower version, or else of the highest version that is gone,
// which may have to go down; nil without one.
func below(before, after []charts.Chart, newer charts.Chart) *charts.Chart {
	var lower, gone *charts.Chart
	for i := range before {
		older := &before[i]
		switch {
		case older.Application != newer.Application:
		case older.Version == newer.Version:
			return older
		case isHigher(newer.Version, older.Version):
			if lower == nil || isHigher(older.Version, lower.Version) {
				lower = older
			}
		case !has(after, *older) && (gone == nil || isHigher(older.Version, gone.Version)):
			gone = older
		}
	}
	return cmp.Or(lower, gone)
}

// has reports whether there is a version of an application.
func has(all []charts.Chart, version charts.Chart) bool {
	return slices.ContainsFunc(all, func(c charts.Chart) bool { return c.Application == version.Application && c.Version == version.Version })
}

// isHigher reports whether a version has a higher number than another one; both have one.
func isHigher(version, other string) bool {
	parsed := numbered.Of([]string{version, other})
	return parsed[0].Parsed != nil && parsed[1].Parsed != nil && numbered.Descending(parsed[0], parsed[1]) < 0
}

// isSame reports whether nothing of a pair changes.
func (p pair) isSame() bool {
	return p.before.Mirrored == p.after.Mirrored && p.before.Missing == p.after.Missing && bytes.Equal(p.beforeUse.Mirrored, p.afterUse.Mirrored) && p.isSameRelease()
}

func (p pair) isSameRelease() bool {
	return p.beforeUse.ReleaseName == p.afterUse.ReleaseName && p.beforeUse.Namespace == p.afterUse.Namespace
}
