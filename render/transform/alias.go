package transform

import (
	"go.yaml.in/yaml/v3"
)

// clone copies a node with all below. Aliases refer to what they referred to.
func clone(node *yaml.Node) *yaml.Node {
	copied := *node
	copied.Content = make([]*yaml.Node, len(node.Content))
	for i, child := range node.Content {
		copied.Content[i] = clone(child)
	}
	return &copied
}

// bare copies a node without its own anchor and with its position forgotten, for another place.
func bare(node *yaml.Node) *yaml.Node {
	copied := clone(resolve(node))
	copied.Anchor = ""
	forget(copied)
	return copied
}

func forget(node *yaml.Node) {
	node.Line, node.Column = 0, 0
	for _, child := range node.Content {
		forget(child)
	}
}

// own makes the value at a key of the mapping one that may be changed without changing another
// place: an alias, or what a merge key brings, is replaced by a copy, and what others refer to
// is kept for them. It returns nil when there is no such key.
func (d *document) own(mapping *yaml.Node, name string) *yaml.Node {
	i := index(mapping, name)
	if i < 0 {
		merged := lookup(mapping, name)
		if merged == nil {
			return nil
		}
		d.giveUp()
		mapping.Content = append(mapping.Content, newString(name), bare(merged))
		return mapping.Content[len(mapping.Content)-1]
	}
	value := mapping.Content[i+1]
	if value.Kind == yaml.AliasNode {
		d.giveUp()
		value = bare(value)
		mapping.Content[i+1] = value
	}
	d.detach(value)
	return value
}

// detach points the aliases of a node to a copy of it. Where that stands is for repairAliases.
func (d *document) detach(node *yaml.Node) {
	if node.Anchor == "" {
		return
	}
	var kept *yaml.Node
	walk(d.root, func(alias *yaml.Node) {
		if alias.Kind == yaml.AliasNode && alias.Alias == node {
			if kept == nil {
				kept = clone(node)
			}
			alias.Alias = kept
		}
	})
}

func walk(node *yaml.Node, visit func(*yaml.Node)) {
	visit(node)
	for _, child := range node.Content {
		walk(child, visit)
	}
}

// repairAliases replaces the first alias whose node is no longer there, or no longer what it
// was, by a copy of that node, to which the later ones refer. It reports whether it had to.
func repairAliases(root *yaml.Node) bool {
	r := repair{defined: map[string]*yaml.Node{}, origin: map[*yaml.Node]*yaml.Node{}}
	r.visit(root)
	return r.changed
}

type repair struct {
	// defined has the node that an anchor's name stands for at this point of the document.
	defined map[string]*yaml.Node
	// origin has for a copy the node that it was made of.
	origin  map[*yaml.Node]*yaml.Node
	changed bool
}

func (r *repair) visit(node *yaml.Node) {
	if node.Anchor != "" {
		r.defined[node.Anchor] = node
	}
	for i, child := range node.Content {
		if child.Kind == yaml.AliasNode {
			node.Content[i] = r.alias(child)
		}
		if node.Content[i].Kind != yaml.AliasNode {
			r.visit(node.Content[i])
		}
	}
}

func (r *repair) alias(alias *yaml.Node) *yaml.Node {
	at := r.defined[alias.Value]
	if at != nil && (at == alias.Alias || r.origin[at] == alias.Alias) {
		alias.Alias = at
		return alias
	}
	r.changed = true
	copied := clone(alias.Alias)
	copied.Anchor = alias.Value
	r.origin[copied] = alias.Alias
	return copied
}
