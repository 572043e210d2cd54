package functions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Options of Resolve.
type Options struct {
	// Root is the directory that everything lies in, and Dir the kustomization's below it.
	Root, Dir string
	// Output is the directory that the files will be copied to; empty for edits in place.
	Output string
	// Catalogs are references that the user consents to, in order.
	Catalogs []string
	// Trusted are references of catalogs that kustomizations may name: those of files are relative to Dir.
	Trusted []string
	// Open opens a catalog.
	Open func(ctx context.Context, reference string) (*Source, error)
	// Digest asks a registry for the digest of an image. Nil: images need digests in the catalogs.
	Digest func(ctx context.Context, image string) (string, error)
	// OS and Arch of the programs.
	OS, Arch string
	// Network allows functions that need the network, and Mounts those that need files: values of kustomize's --mount.
	Network bool
	Mounts  []string
	// Exec allows programs that configs name themselves. Those of catalogs are consented to with the catalog.
	Exec bool
	// Update takes what the catalogs say now for configs that a catalog has supplied before.
	Update bool
}

// Result is what resolving changes.
type Result struct {
	// Files maps the paths below the root to their new content.
	Files map[string][]byte
	// Catalogs maps paths of catalogs to their content with digests.
	Catalogs map[string][]byte
	// Changes are what was resolved and removed, a line each.
	Changes []Problem
	// Stale are the configs for which the catalogs have another runtime than the one that a catalog supplied, or none.
	Stale []Problem
	// Flags with which kustomize runs the functions.
	Flags []string
	Notes []string
	// Resolved, Current and Kept are the numbers of configs that got a runtime, that have the one that a catalog supplied, and that have
	// one of their own.
	Resolved, Current, Kept int
}

// resolver resolves the configs that a walk has found.
type resolver struct {
	walk

	Options
	sources map[string]*Source
	pins    pins
	result  Result
	needs   needs
	// inline maps kustomizations to the new texts of their elements.
	inline map[string]map[element]string
	// given has the names that configs without one got.
	given map[string]bool
}

// Resolve finds the configs of functions in the kustomization and its bases, and decides on the runtimes of those without
// one. It writes nothing. The error is an *InvalidError, with all problems, if files or catalogs are the cause.
func Resolve(ctx context.Context, o Options) (*Result, error) {
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &resolver{
		walk: walk{
			files: &files{root: root, content: map[string][]byte{}, edited: map[string][]byte{}},
			root:  o.Root, opened: map[string]*layer{}, done: map[visit]bool{}, found: map[place]*config{},
		},
		Options: o, sources: map[string]*Source{}, pins: pins{}, given: map[string]bool{}, inline: map[string]map[element]string{},
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

// resolve gives a config the runtime of a catalog.
func (r *resolver) resolve(ctx context.Context, c *config) error {
	chosen, err := r.choose(ctx, c)
	if chosen == nil || err != nil {
		return err
	}
	r.needs.add(chosen.needs)
	if err := r.annotate(c, chosen); err != nil {
		r.add(r.show(c.file), c.line, "%s cannot be edited: %v", c, err)
		return nil
	}
	r.result.Resolved++
	if c.kept != nil {
		r.change(c.file, c.line, "%s has another runtime than %s", c, chosen.from)
		return nil
	}
	r.change(c.file, c.line, "%s has no runtime: %s has it", c, chosen.from)
	return nil
}

func (r *resolver) change(file string, line int, format string, args ...any) {
	r.result.Changes = append(r.result.Changes, Problem{r.show(file), line, fmt.Sprintf(format, args...)})
}

func (w *walk) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// choose returns the runtime of a config; nil after it has reported why there is none.
func (r *resolver) choose(ctx context.Context, c *config) (chosen *runtime, err error) {
	for _, user := range c.users {
		one, err := r.runtime(ctx, c, user)
		switch {
		case err != nil || one == nil:
			return nil, err
		case chosen != nil && chosen.annotation != one.annotation:
			r.add(r.show(c.file), c.line, "%s is used by the kustomizations of %s and %s, which need another runtime each: give each a config of its own",
				c, r.show(c.users[0].dir), r.show(user.dir))
			return nil, nil
		}
		chosen = one
	}
	return chosen, nil
}

// annotate writes the runtime into the config.
func (r *resolver) annotate(c *config, chosen *runtime) error {
	name, err := r.nameFor(c)
	if err != nil {
		return err
	}
	if c.field == "" {
		text, err := r.files.read(c.file)
		if err != nil {
			return err
		}
		edited, err := annotateDocument(text, c.document, chosen, name)
		if err == nil {
			r.files.edited[c.file] = edited
		}
		return err
	}
	at := element{c.field, c.item}
	if r.inline[c.file] == nil {
		r.inline[c.file] = map[element]string{}
	}
	inline, edited := r.inline[c.file][at]
	if !edited {
		list := yamlnode.Lookup(r.opened[path.Dir(c.file)].root, c.field)
		inline, _ = yamlnode.Text(yamlnode.Resolve(list.Content[c.item]))
	}
	annotated, err := annotateDocument([]byte(inline), c.document, chosen, name)
	if err == nil {
		r.inline[c.file][at] = string(annotated)
	}
	return err
}

// nameFor returns a name for a config without one: kustomize refuses that.
func (r *resolver) nameFor(c *config) (string, error) {
	if c.name != "" {
		return "", nil
	}
	name := strings.ToLower(c.kind)
	id := c.users[0].dir + " " + c.String()
	if r.given[id] {
		return "", errors.New("there is another one without metadata.name: write one")
	}
	r.given[id] = true
	r.note("%s:%d: %s gets the name %s, because kustomize refuses an object without one", r.show(c.file), c.line, c, name)
	return name, nil
}

// annotateDocument annotates the document of a text with an index.
func annotateDocument(text []byte, index int, chosen *runtime, name string) ([]byte, error) {
	piece := document.Split(text)[index]
	start := yamlnode.LineOffsets(text)[piece.Above]
	edited, err := annotate(piece.Data, chosen.annotation, chosen.hash, name)
	if err != nil {
		return nil, err
	}
	return []byte(string(text[:start]) + string(edited) + string(text[start+len(piece.Data):])), nil
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
