// SPDX-License-Identifier: Apache-2.0

package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

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
			err = checkBegun(argument, found.Digest)
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

// checkBegun returns an error if the digest of FROM is all zeros: a stage begins with this digest.
func checkBegun(argument, digest string) error {
	if _, hex, _ := strings.Cut(digest, ":"); strings.Trim(hex, "0") == "" {
		return output.Finding(fmt.Errorf("FROM %s has no digest yet, only zeros: promote an artifact to it first", argument))
	}
	return nil
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
