// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"os"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/edits"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Resolve finds the configs of functions in the kustomization and its bases, and decides on the runtimes of those without
// one. It writes nothing. The error is an *InvalidError, with all problems, if files or catalogs are the cause.
func Resolve(ctx context.Context, o Options) (*Result, error) {
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &resolver{
		Walk: configs.NewWalk(root, o.Root), Options: o, sources: map[string]*Source{}, schemas: memo.Memo{}, pins: pins{},
		given: map[string]bool{}, inline: map[string]map[edits.Element]string{},
	}
	if err := r.Enter(ctx, o.Dir, nil, o.Dir, 0); err != nil {
		return nil, err
	}
	r.trust()
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	return r.finish()
}

// all decides on each config, and edits the files.
func (r *resolver) all(ctx context.Context) error {
	for _, c := range r.Configs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		decide := r.resolve
		switch {
		case c.Kept != nil && c.Recorded == "" && c.Kept.Exec.Path == "":
			r.keep(c, nil) // an image of its own
			continue
		case c.Kept != nil:
			decide = r.review
		}
		if err := decide(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// finish edits the kustomizations, and returns the result.
func (r *resolver) finish() (*Result, error) {
	r.leave()
	for _, l := range r.Layers {
		found, names := yamlnode.Find(l.Root, configs.CatalogsField)
		if names {
			r.change(l.File, found.Line, "%s is no field that kustomize knows", configs.CatalogsField)
		}
		if err := r.editLayer(l, names); err != nil {
			r.Add(l.File, found.Line, "the kustomization cannot be edited: %v", err)
		}
	}
	pinned, err := r.pins.write()
	if err != nil {
		return nil, err
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	r.result.Files, r.result.Catalogs, r.result.Notes, r.result.Flags = r.Files.Edited, pinned, r.Notes, r.flags()
	return &r.result, nil
}

// editLayer writes the configs in a kustomization, and removes the names of catalogs.
func (r *resolver) editLayer(l *configs.Layer, names bool) error {
	inline := r.inline[l.File]
	if len(inline) == 0 && !names {
		return nil
	}
	text, err := r.Files.Read(l.File)
	if err == nil && len(inline) > 0 {
		text, err = edits.WithElements(text, inline)
	}
	if err == nil && names {
		text, err = edits.WithoutField(text, configs.CatalogsField)
	}
	if err == nil {
		r.Files.Edited[l.File] = text
	}
	return err
}
