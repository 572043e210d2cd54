// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/approvals"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/approval"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/guard"
)

// release is a revision of the catalog.
type release struct {
	content content
	digest  string
	loaded  *catalog.Catalog
}

// hub renders the selection of one fleet and pushes it, in the order of the controller's steps. What needs the API server is
// left out: no Kustomization of the hub uses the selection, so nothing lives there and its artifact stays withheld.
type hub struct {
	fleet     string
	selection *v1alpha1.CatalogSelection
	// record is that of the last publication; nil before the first.
	record *record.Record
	// pending is published, and not pushed yet, with the content that the model knows of it.
	pending    []byte
	pendingHas content
	// pushed is the digest in the registry.
	pushed string

	// What the model knows: what was published last, what would be next, what of that is lost and not named, and the lines that Winnow
	// prints for that. seen is when a line was in the spec first, and gone when it left; used and naming are lines.
	published, next content
	left, held      []string
	seen, gone      map[string]time.Time
	used, naming    map[string]bool
}

// errViolation reports that something was lost that nothing names.
var errViolation = errors.New("unapproved loss")

// reconcile publishes the selection over a catalog unless it is held. It reports whether something new was published.
func (h *hub) reconcile(ctx context.Context, file string, r release, now time.Time) (bool, error) {
	status := h.selection.Status
	h.selection = &v1alpha1.CatalogSelection{}
	if err := yaml.UnmarshalStrict([]byte(file), h.selection); err != nil {
		return false, err
	}
	h.selection.UID, h.selection.Status = types.UID("11111111-"+h.fleet), status
	h.selection.Status.Approvals = approvals.See(h.selection, now)
	options, err := render.FromSpec(h.selection)
	if err != nil {
		return false, err
	}
	options.AllowEmpty = status.Artifact != nil
	if h.record, err = record.Read(h.selection); err != nil && status.Artifact != nil {
		return false, err
	}
	loaded := []source.Loaded{{Observed: source.Observed{
		Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "fleet", Name: "catalog"},
		Artifact: meta.Artifact{Revision: "stable@" + r.digest, Digest: r.digest},
	}, Catalog: r.loaded}}
	sources := source.Guarded(loaded)
	result, err := render.Render(ctx, guard.Selections(sources), options)
	if err != nil {
		return false, err
	}
	h.next = r.content.without(h.selection.Spec.Exclude)
	uses, passes := h.admits(result, now)
	if err := h.judge(passes, now); err != nil || !passes {
		return false, err
	}
	h.selection.Status.Approvals = approvals.Use(h.selection.Status.Approvals, uses, now)
	return h.publish(loaded, result, r)
}

// admits decides as the guard of the controller does for a selection without consumers. It returns the lines that are used then.
func (h *hub) admits(result *render.Result, now time.Time) ([]approval.Line, bool) {
	named := guard.NamedBy(h.selection, result.Instances)
	named.Lines = approvals.Counting(h.selection, now)
	verdict := guard.Decide(h.record.Published(), guard.Next{Definitions: result.Compared(), Unresolved: result.Unresolved}, named)
	h.held, h.selection.Status.Held = nil, nil
	if len(verdict.Held) == 0 {
		return verdict.Uses, true
	}
	h.held = guard.LinesOf(verdict.Held, guard.Fresh(approvals.Known(h.selection)))
	h.selection.Status.Held = &v1alpha1.HeldStatus{Approve: h.held}
	for _, line := range verdict.Uses {
		h.selection.Status.Held.Named = append(h.selection.Status.Held.Named, line.String())
	}
	return nil, false
}

// judge compares what Winnow decides with the rule: all is lost that the last publication has and the next one lacks, and it is
// held unless spec.exclude names the definition, or a line that counts. A line counts once, and for 24 hours after it was there
// first, longer while it names something held. 30 days after it left the spec, it is a new one.
func (h *hub) judge(passes bool, now time.Time) error {
	var counts []string
	for line := range h.seen {
		left, is := h.gone[line]
		switch {
		case slices.Contains(h.selection.Spec.Safeguards.Approve, line):
			delete(h.gone, line)
		case !is:
			h.gone[line] = now
		case now.Sub(left) > 30*24*time.Hour:
			delete(h.seen, line)
			delete(h.gone, line)
			delete(h.used, line)
		}
	}
	for _, line := range h.selection.Spec.Safeguards.Approve {
		if _, known := h.seen[line]; !known {
			h.seen[line] = now
		}
		if !h.used[line] && (now.Sub(h.seen[line]) < 24*time.Hour || h.naming[line]) {
			counts = append(counts, line)
		}
	}
	losses := h.published.losses(h.next)
	h.left = unnamed(losses, slices.Concat(counts, h.selection.Spec.Exclude))
	clear(h.naming)
	for _, line := range counts {
		switch {
		case len(unnamed(losses, []string{line})) == len(losses):
		case passes:
			h.used[line] = true
		default:
			h.naming[line] = true
		}
	}
	switch {
	case passes && len(h.left) > 0:
		return fmt.Errorf("%w: the hub publishes %s without %v: before %v, now %v, excluded %v, with the lines %v", errViolation, h.fleet, h.left,
			h.published, h.next, h.selection.Spec.Exclude, counts)
	case !passes && !slices.Equal(bodies(h.held), h.left):
		return fmt.Errorf("%w: the hub holds %s until lines name %v, and the model knows %v: excluded %v, with the lines %v", errVerdict, h.fleet, h.held,
			h.left, h.selection.Spec.Exclude, counts)
	}
	return nil
}

// publish commits the publication as the controller does.
func (h *hub) publish(loaded []source.Loaded, result *render.Result, r release) (bool, error) {
	sources, status := source.Guarded(loaded), &h.selection.Status
	next := record.New(h.selection, record.Publication{Sources: loaded, Result: result, Last: h.record})
	isNew := status.Artifact == nil || status.Artifact.Revision != result.Revision
	status.Artifact = &meta.Artifact{Revision: result.Revision}
	status.Withheld = v1alpha1.NoConsumerReason
	status.Sources = []v1alpha1.SourceStatus{{Kind: sources[0].Kind, Namespace: "fleet", Name: "catalog", Revision: loaded[0].Artifact.Revision, Digest: r.digest}}
	packed, err := next.Pack()
	if err != nil {
		return false, err
	}
	status.WrittenRecord = packed
	h.published = h.next
	if !isNew {
		return false, nil
	}
	var archive bytes.Buffer
	if err := result.WriteArchive(&archive); err != nil {
		return false, err
	}
	h.pending, h.pendingHas = archive.Bytes(), h.next
	return true, nil
}
