package functions

import (
	"context"
	"os"

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
		walk: newWalk(root, o.Root), Options: o, sources: map[string]*Source{}, pins: pins{}, given: map[string]bool{}, inline: map[string]map[element]string{},
	}
	if err := r.enter(ctx, o.Dir, nil, o.Dir, 0); err != nil {
		return nil, err
	}
	r.trust()
	if err := r.err(); err != nil {
		return nil, err
	}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	return r.finish()
}

// all decides on each config, and edits the files.
func (r *resolver) all(ctx context.Context) error {
	for _, c := range r.configs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		decide := r.resolve
		switch {
		case c.kept != nil && c.recorded == "" && c.kept.Exec.Path == "":
			r.keep(c, nil) // an image of its own
			continue
		case c.kept != nil:
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
	for _, l := range r.layers {
		found, names := yamlnode.Find(l.root, catalogsField)
		if names {
			r.change(l.file, found.Line, "%s is no field that kustomize knows", catalogsField)
		}
		if err := r.editLayer(l, names); err != nil {
			r.add(r.show(l.file), found.Line, "the kustomization cannot be edited: %v", err)
		}
	}
	pinned, err := r.pins.write()
	if err != nil {
		return nil, err
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	r.result.Files, r.result.Catalogs, r.result.Notes, r.result.Flags = r.files.edited, pinned, r.notes, r.flags()
	return &r.result, nil
}

// editLayer writes the configs in a kustomization, and removes the names of catalogs.
func (r *resolver) editLayer(l *layer, names bool) error {
	inline := r.inline[l.file]
	if len(inline) == 0 && !names {
		return nil
	}
	text, err := r.files.read(l.file)
	if err == nil && len(inline) > 0 {
		text, err = withElements(text, inline)
	}
	if err == nil && names {
		text, err = withoutField(text, catalogsField)
	}
	if err == nil {
		r.files.edited[l.file] = text
	}
	return err
}
