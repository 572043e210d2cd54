// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
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

	// What the model knows: what was published last, over which catalog, what is held, and what reviewers have approved.
	published, over, next content
	held                  string
	approved              map[string]bool
}

// errViolation reports that something was lost without an approval.
var errViolation = errors.New("unapproved loss")

// reconcile publishes the selection over a catalog unless it is held. It reports whether something new was published.
func (h *hub) reconcile(ctx context.Context, file string, r release) (bool, error) {
	status := h.selection.Status
	h.selection = &v1alpha1.CatalogSelection{}
	if err := yaml.UnmarshalStrict([]byte(file), h.selection); err != nil {
		return false, err
	}
	h.selection.UID, h.selection.Status = types.UID("11111111-"+h.fleet), status
	options, err := render.FromSpec(h.selection)
	if err != nil {
		return false, err
	}
	if h.record, err = record.Read(h.selection); err != nil && status.Artifact != nil {
		return false, err
	}
	loaded := []source.Loaded{{Observed: source.Observed{
		Kind: "OCIRepository", Name: types.NamespacedName{Namespace: "fleet", Name: "catalog"},
		Artifact: meta.Artifact{Revision: "stable@" + r.digest, Digest: r.digest},
	}, Catalog: r.loaded}}
	sources := source.Guarded(loaded)
	result, err := render.Render(ctx, guard.Selections(sources), options)
	var refused *render.Error
	switch {
	case errors.As(err, &refused) && refused.Code == v1alpha1.EmptyResultReason:
		h.held = "" // nothing is selected, and no approval releases that
		return false, nil
	case err != nil:
		return false, err
	}
	h.next = r.content.without(h.selection.Spec.Exclude)
	if !h.admits(ctx, sources, result) {
		return false, nil
	}
	return h.publish(loaded, result, r)
}

// admits decides as the guard of the controller does for a selection without consumers.
func (h *hub) admits(ctx context.Context, sources []guard.Source, result *render.Result) bool {
	status := &h.selection.Status
	approval := guard.ToApprove(nil, sources, result.Revision)
	for _, entry := range h.record.Outdated(h.selection, sources) {
		if sum := guard.Approved(entry); sum == approval.Render || sum == approval.Revision {
			status.UsedApprovals = append(status.UsedApprovals, entry)
		}
	}
	verdict := guard.Decide(ctx, h.record.Published(), guard.Next{Selection: h.selection, Sources: sources, Result: result})
	if approval.Releases(verdict.Held, guard.Unused(h.selection.Spec.Safeguards.Approve, status.UsedApprovals)) {
		status.Held, h.held = nil, ""
		return true
	}
	h.held = approval.Entry(status.UsedApprovals, verdict.Held...)
	status.Held = &v1alpha1.HeldStatus{Revision: "stable@" + sources[0].Checksum, Approve: []string{h.held}}
	return false
}

// publish commits the publication as the controller does, and compares it with what the model knows.
func (h *hub) publish(loaded []source.Loaded, result *render.Result, r release) (bool, error) {
	var failure error
	sum := guard.Checksum(result.Revision)
	if lost := h.unexcused(); len(lost) > 0 && !h.approved[sum] {
		failure = fmt.Errorf("%w: the hub publishes %s without %v, which neither an edit nor an approval has taken away: before %v, excluded %v, policy %s, over %v, now %v", errViolation, h.fleet, lost, h.published, h.selection.Spec.Exclude, h.selection.Spec.DeletionPolicy, h.over, r.content)
	}
	clear(h.approved)
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
	h.published, h.over = h.next, r.content
	if !isNew {
		return false, failure
	}
	var archive bytes.Buffer
	if err := result.WriteArchive(&archive); err != nil {
		return false, err
	}
	h.pending, h.pendingHas = archive.Bytes(), h.next
	return true, failure
}

// unexcused returns what the next publication loses and the new spec over the catalog of the last one would not lose.
func (h *hub) unexcused() []string {
	excused := h.published.lost(h.over.without(h.selection.Spec.Exclude))
	return slices.DeleteFunc(h.published.lost(h.next), func(item string) bool { return slices.Contains(excused, item) })
}

// approve notes that a reviewer has approved a render.
func (h *hub) approve(entry string) { h.approved[guard.Approved(entry)] = true }
