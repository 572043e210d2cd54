// SPDX-License-Identifier: Apache-2.0

package yamlnode

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

const (
	// MaxDepth of nested nodes, aliases followed.
	MaxDepth = 100
	// MaxAliased nodes may be added to a document by expanding its aliases: far more than people
	// write, far less than a "billion laughs" needs.
	MaxAliased = 100_000
	// MaxNodes bounds the nodes of a document that Validate accepts, with its aliases expanded. In memory
	// a node takes a hundred times the two bytes that it may take in the text.
	MaxNodes = 200_000
	// MaxBytes of scalars may a document have with its aliases expanded. What the API server stores
	// has to fit into an etcd request, which is limited to about 1.5 MiB, with the managed fields beside it.
	MaxBytes = 1 << 20
)

// Extent is the size of a node when all aliases below it are expanded.
type Extent struct {
	Nodes   int // all nodes
	Aliased int // the nodes that are there because of aliases
	Bytes   int // of scalars
	height  int // 1 for a scalar
}

func (e Extent) plus(child Extent) Extent {
	return Extent{
		Nodes:   e.Nodes + child.Nodes,
		Aliased: e.Aliased + child.Aliased,
		Bytes:   e.Bytes + child.Bytes,
		height:  max(e.height, child.height+1),
	}
}

// Check reports whether a document is bounded, so that it can be read safely: not too deep, aliases neither cyclic nor
// expanding to more than so many nodes or MaxBytes. It returns the extent of the document, or of a part of it when it
// is not bounded.
//
// It calls report for each problem, with what fmt.Sprintf makes a message of that follows the name of a
// document. Besides a bound that is exceeded these are duplicate keys, keys that are no strings and
// impossible merges, after which the check goes on.
func Check(content *yaml.Node, aliased int, report Report) (Extent, bool) {
	c := check{report: report, maxAliased: aliased, anchored: map[*yaml.Node]Extent{}}
	size := c.visit(content, 1)
	return size, !c.broken
}

// Validate returns the first problem that Check reports of a document, with at most MaxAliased nodes, or an
// error if the document has more than MaxNodes.
func Validate(content *yaml.Node) error {
	return validate(&check{maxAliased: MaxAliased}, content)
}

// ValidateLastWins is Validate for what is read as Helm does: of a key that is there twice, the last one counts, as for Plain.
func ValidateLastWins(content *yaml.Node) error {
	return validate(&check{maxAliased: MaxAliased, lastWins: true}, content)
}

func validate(c *check, content *yaml.Node) error {
	var problem error
	c.anchored = map[*yaml.Node]Extent{}
	c.report = func(line int, format string, args ...any) {
		if problem == nil {
			problem = fmt.Errorf("line %d: it %s", line, fmt.Sprintf(format, args...))
		}
	}
	size := c.visit(content, 1)
	if problem == nil && size.Nodes > MaxNodes {
		problem = fmt.Errorf("it has more than %d nodes", MaxNodes)
	}
	return problem
}

// Report takes a problem in a line of a document.
type Report func(line int, format string, args ...any)

type check struct {
	report     Report
	maxAliased int
	// lastWins accepts keys that are there twice.
	lastWins bool
	// anchored has the extents of the anchored nodes that are complete. An alias to another
	// node is inside of what it refers to. Nothing is ever expanded, and no node visited twice.
	anchored map[*yaml.Node]Extent
	broken   bool
}

// visit returns the extent of a node; once broken, callers unwind without reporting more.
func (c *check) visit(node *yaml.Node, depth int) Extent {
	size := Extent{Nodes: 1, Bytes: len(node.Value), height: 1}
	switch {
	case c.broken:
		return size
	case depth > MaxDepth:
		c.refuse(node, "is nested deeper than %d levels", MaxDepth)
	case node.Kind == yaml.AliasNode:
		return c.alias(node, depth)
	default:
		size = c.children(node, size, depth)
	}
	if node.Anchor != "" {
		c.anchored[node] = size
	}
	return size
}

func (c *check) children(node *yaml.Node, size Extent, depth int) Extent {
	for _, child := range node.Content {
		size = size.plus(c.visit(child, depth+1))
		switch {
		case c.broken:
		case size.Aliased > c.maxAliased:
			c.refuse(child, "has aliases that expand to more than %d nodes", c.maxAliased)
		case size.Bytes > MaxBytes && size.Aliased == 0:
			c.refuse(child, "has more than %d bytes of keys and values", MaxBytes)
		case size.Bytes > MaxBytes:
			c.refuse(child, "has aliases that expand to more than %d bytes", MaxBytes)
		}
		if c.broken {
			return size
		}
	}
	if node.Kind == yaml.MappingNode {
		checkKeys(node, c.lastWins, c.report)
	}
	return size
}

func (c *check) alias(node *yaml.Node, depth int) Extent {
	size, complete := c.anchored[node.Alias]
	switch {
	case !complete:
		c.refuse(node, "has an alias that refers to itself: %s", quote("*"+node.Value))
	case depth+size.height-1 > MaxDepth:
		c.refuse(node, "is nested deeper than %d levels by the alias %s", MaxDepth, quote("*"+node.Value))
	}
	size.Aliased = size.Nodes
	return size
}

func (c *check) refuse(node *yaml.Node, format string, args ...any) {
	c.report(node.Line, format, args...)
	c.broken = true
}

// CheckKeys reports what is wrong with the keys of a mapping. They are compared as JSON would have them, because that is
// what the API server sees: 1 and "1" are one key.
func CheckKeys(mapping *yaml.Node, report Report) { checkKeys(mapping, false, report) }

func checkKeys(mapping *yaml.Node, lastWins bool, report Report) {
	lines := make(map[string]int, len(mapping.Content)/2)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		name, ok := KeyName(key)
		if !ok {
			report(key.Line, "has a key that is not a string")
			continue
		}
		if first, twice := lines[name]; twice && !lastWins {
			report(key.Line, "has the key %s twice, first in line %d", quote(name), first)
			continue
		}
		lines[name] = key.Line
		if IsMerge(key) && !isMergeable(mapping.Content[i+1]) {
			report(key.Line, "has a merge key << with something that is not a mapping or a list of mappings")
		}
	}
}

func isMergeable(value *yaml.Node) bool {
	for _, source := range Merged(value) {
		if Resolve(source).Kind != yaml.MappingNode {
			return false
		}
	}
	return true
}
