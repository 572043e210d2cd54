// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/edits"
	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// resolve gives a config the runtime of a catalog.
func (r *resolver) resolve(ctx context.Context, c *configs.Config) error {
	chosen, err := r.choose(ctx, c)
	if chosen == nil || err != nil {
		return err
	}
	r.needs.add(chosen.needs)
	if err := r.annotate(c, chosen); err != nil {
		r.Add(c.File, c.Line, "%s cannot be edited: %v", c, err)
		return nil
	}
	r.result.Resolved++
	if c.Kept != nil {
		r.change(c.File, c.Line, "%s has another runtime than %s", c, chosen.from)
	} else {
		r.change(c.File, c.Line, "%s has no runtime: %s has it", c, chosen.from)
	}
	return nil
}

// choose returns the runtime of a config; nil after it has reported why there is none.
func (r *resolver) choose(ctx context.Context, c *configs.Config) (chosen *runtime, err error) {
	for _, user := range c.Users {
		one, err := r.runtime(ctx, c, user)
		switch {
		case err != nil || one == nil:
			return nil, err
		case chosen != nil && chosen.annotation != one.annotation:
			r.Add(c.File, c.Line, "%s is used by the kustomizations of %s and %s, which need another runtime each: give each a config of its own",
				c, r.Show(c.Users[0].Dir), r.Show(user.Dir))
			return nil, nil
		}
		chosen = one
	}
	return chosen, nil
}

// annotate writes the runtime into the config.
func (r *resolver) annotate(c *configs.Config, chosen *runtime) error {
	name, err := r.nameFor(c)
	if err != nil {
		return err
	}
	if c.Field == "" {
		text, err := r.Files.Read(c.File)
		if err != nil {
			return err
		}
		edited, err := annotateDocument(text, c.Document, chosen, name)
		if err == nil {
			r.Files.Edited[c.File] = edited
		}
		return err
	}
	at := edits.Element{Field: c.Field, Index: c.Item}
	if r.inline[c.File] == nil {
		r.inline[c.File] = map[edits.Element]string{}
	}
	inline, edited := r.inline[c.File][at]
	if !edited {
		list := yamlnode.Lookup(r.Opened[path.Dir(c.File)].Root, c.Field)
		inline, _ = yamlnode.Text(yamlnode.Resolve(list.Content[c.Item]))
	}
	annotated, err := annotateDocument([]byte(inline), c.Document, chosen, name)
	if err == nil {
		r.inline[c.File][at] = string(annotated)
	}
	return err
}

// nameFor returns a name for a config without one: kustomize refuses that.
func (r *resolver) nameFor(c *configs.Config) (string, error) {
	if c.Name != "" {
		return "", nil
	}
	name := strings.ToLower(c.Kind)
	id := c.Users[0].Dir + " " + c.String()
	if r.given[id] {
		return "", errors.New("there is another one without metadata.name: write one")
	}
	r.given[id] = true
	r.Note("%s:%d: %s gets the name %s, because kustomize refuses an object without one", r.Show(c.File), c.Line, c, name)
	return name, nil
}

// annotateDocument annotates the document of a text with an index.
func annotateDocument(text []byte, index int, chosen *runtime, name string) ([]byte, error) {
	piece := document.Split(text)[index]
	start := yamlnode.LineOffsets(text)[piece.Above]
	edited, err := edits.Annotate(piece.Data, chosen.annotation, chosen.hash, name)
	if err != nil {
		return nil, err
	}
	return []byte(string(text[:start]) + string(edited) + string(text[start+len(piece.Data):])), nil
}
