package functions

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

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
