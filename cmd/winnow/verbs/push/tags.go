// SPDX-License-Identifier: Apache-2.0

package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	ociregistry "oras.land/oras-go/v2/registry"

	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/registry"
)

// tagRules are the flags for tags.
type tagRules struct{ dryRun, immutable bool }

// push pushes the artifact unless a tag must not move, which it finds out before it sends anything. It returns the tags
// that moved, or would move without --dry-run.
func (o *tagRules) push(ctx context.Context, to *oci.Repository, packed registry.Artifact, tags []string, step func(string)) ([]oci.MovedTag, error) {
	read := tags
	if !o.dryRun {
		read = slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return !o.immutable || !isVersion(tag) })
	}
	step("reading the tags")
	moves, err := to.Moves(ctx, packed, read)
	if err != nil {
		return nil, err
	}
	for _, tag := range moves {
		err = errors.Join(err, o.checkMove(tag))
	}
	if err != nil || o.dryRun {
		return moves, err
	}
	return to.Push(ctx, packed, tags, step, o.checkMove)
}

// checkMove returns a *output.FindingError for a tag that is immutable.
func (o *tagRules) checkMove(tag oci.MovedTag) error {
	if !o.immutable || !isVersion(tag.Name) {
		return nil
	}
	return output.Finding(fmt.Errorf("the tag %s has other content, %s, and is a semantic version, which does not move:"+
		" push another version, or pass --immutable-tags=false", tag.Name, tag.Was))
}

// isVersion reports whether a tag is a whole semantic version, unlike v1, which moves with each release. It has _ for the + before
// build metadata, as in Helm.
func isVersion(tag string) bool {
	_, err := semver.StrictNewVersion(strings.Replace(strings.TrimPrefix(tag, "v"), "_", "+", 1))
	return err == nil
}

// printMoved prints the tags that moved: that may be a mistake of the user.
func (o *tagRules) printMoved(notes io.Writer, moved []oci.MovedTag) {
	done := "moved"
	if o.dryRun {
		done = "would move"
	}
	for _, tag := range moved {
		fmt.Fprintf(notes, "the tag %s %s from %s\n", tag.Name, done, tag.Was)
	}
}

// pushResult is the output of push.
type pushResult struct {
	output.Document
	// Reference is oci://host/repository@digest.
	Reference string   `json:"reference"`
	Digest    string   `json:"digest"`
	Tags      []string `json:"tags"`
	// Revision of an OCIRepository with the first tag.
	Revision string         `json:"revision"`
	Moved    []oci.MovedTag `json:"moved"`
	DryRun   bool           `json:"dryRun"`
}

func newPushResult(reference ociregistry.Reference, packed registry.Artifact, tags []string, moved []oci.MovedTag, dryRun bool) *pushResult {
	digest := packed.Manifest.Descriptor.Digest.String()
	return &pushResult{
		Document: output.NewDocument("PushResult"), Reference: oci.DigestAddress(reference, digest), Digest: digest,
		Tags: report.Listed(tags), Revision: tags[0] + "@" + digest, Moved: append([]oci.MovedTag{}, moved...), DryRun: dryRun,
	}
}

// Table prints the reference alone, for scripts.
func (r *pushResult) Table(w io.Writer) { fmt.Fprintln(w, r.Reference) }
