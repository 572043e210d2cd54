// SPDX-License-Identifier: Apache-2.0

package unread

import (
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/winnow-dev/winnow/render/each"
)

// fileTemplate names the template of a file as a whole.
const fileTemplate = "\x00"

// parsed returns the templates in a text by name.
func parsed(text string) (map[string]*parse.Tree, error) {
	trees := map[string]*parse.Tree{}
	tree := parse.New(fileTemplate)
	tree.Mode = parse.SkipFuncCheck
	_, err := tree.Parse(text, "", "", trees)
	return trees, err
}

// tree adds what a template reads, whose data has a meaning. It looks twice, because a loop may use a variable above the line that
// sets it.
func (r *reads) tree(tree *parse.Tree, data meaning) {
	s := scope{r, data, map[string]bool{}}
	for range 2 {
		s.list(tree.Root, data)
	}
}

// values is the name that the values have in the data of a template.
const values = "Values"

// mention is a key in a text that names it as templates do.
var mention = regexp.MustCompile(`\bValues\.([A-Za-z0-9_-]+)`)

// text adds what a text reads that may become a template: the keys that it mentions, and the keys that its actions read.
func (r *reads) text(text string) {
	for _, found := range mention.FindAllStringSubmatch(text, -1) {
		r.keys[found[1]] = true
	}
	if !strings.Contains(text, "{{") {
		return
	}
	trees, err := parsed(text)
	r.entirely(err != nil && strings.Contains(mention.ReplaceAllString(text, ""), values))
	for _, tree := range trees {
		r.tree(tree, top)
	}
}

// meaning is what a value of a template is, as far as its text tells.
type meaning int

const (
	// other is neither of the others, or is not known.
	other meaning = iota
	// top is the data of the template of a file, in which the values are.
	top
	// whole are the values.
	whole
)

// scope is a template with its variables that are the values.
type scope struct {
	*reads
	data      meaning
	variables map[string]bool
}

// list adds what the nodes of a list read.
func (s scope) list(list *parse.ListNode, dot meaning) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			s.entirely(s.pipe(n.Pipe, dot) == whole && len(n.Pipe.Decl) == 0)
		case *parse.TemplateNode:
			s.calls[n.Name] = true
			s.entirely(s.pipe(n.Pipe, dot) == whole)
		case *parse.IfNode:
			s.pipe(n.Pipe, dot)
			s.list(n.List, dot)
			s.list(n.ElseList, dot)
		case *parse.WithNode:
			s.list(n.List, s.pipe(n.Pipe, dot))
			s.list(n.ElseList, dot)
		case *parse.RangeNode:
			s.entirely(s.pipe(n.Pipe, dot) != other)
			s.list(n.List, other)
			s.list(n.ElseList, dot)
		}
	}
}

// operand is an argument of a command; without a node, it is the result of the command before it.
type operand struct {
	node parse.Node
	is   meaning
}

// literal returns the text of an operand that is one.
func (o operand) literal() (string, bool) {
	text, ok := o.node.(*parse.StringNode)
	if !ok {
		return "", false
	}
	return text.Text, true
}

// pipe adds what a pipeline reads, and returns its result, which its variables have.
func (s scope) pipe(pipe *parse.PipeNode, dot meaning) (result meaning) {
	if pipe == nil {
		return other
	}
	for i, command := range pipe.Cmds {
		operands := each.Map(command.Args, func(arg parse.Node) operand { return operand{arg, s.meaning(arg, dot)} })
		if i > 0 {
			operands = append(operands, operand{is: result})
		}
		result = s.command(operands)
	}
	for _, variable := range pipe.Decl {
		s.variables[variable.Ident[0]] = s.variables[variable.Ident[0]] || result == whole
	}
	return result
}

// meaning adds what an operand reads, and returns what it is.
func (s scope) meaning(node parse.Node, dot meaning) meaning {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return s.fields(dot, n.Ident)
	case *parse.VariableNode:
		is := other
		switch {
		case n.Ident[0] == "$":
			is = s.data
		case s.variables[n.Ident[0]]:
			is = whole
		}
		return s.fields(is, n.Ident[1:])
	case *parse.ChainNode:
		return s.fields(s.meaning(n.Node, dot), n.Field)
	case *parse.PipeNode:
		return s.pipe(n, dot)
	case *parse.StringNode:
		s.text(n.Text)
	}
	return other
}

// fields adds the key that a path of fields reads, and returns what is at its end. Whatever is named Values counts as the values:
// what other templates are given has them under this name, too.
func (s scope) fields(start meaning, path []string) meaning {
	if len(path) == 0 {
		return start
	}
	if start != whole {
		i := slices.Index(path, values)
		if i < 0 {
			return other
		}
		path = path[i+1:]
	}
	if len(path) > 0 && path[0] == "AsMap" { // which is a method that returns them
		path = path[1:]
	}
	if len(path) == 0 {
		return whole
	}
	s.keys[path[0]] = true
	s.entirely(slices.Contains(methods, path[0]))
	return other
}

// methods are the methods that use the values as a whole.
var methods = []string{"Encode", "PathValue", "Table", "YAML"}

// command adds what a command reads of the values that it is given, and returns its result.
func (s scope) command(operands []operand) meaning {
	function, ok := operands[0].node.(*parse.IdentifierNode)
	if !ok {
		return operands[0].is
	}
	args := operands[1:]
	switch function.Ident {
	case "include":
		s.include(args)
	case "tpl":
		s.evaluates = true
	case "get", "hasKey", "index", "set", "unset":
		if len(args) > 1 && args[0].is == whole {
			s.literals(args[1:2])
			args = args[2:]
		}
	case "pick":
		if len(args) > 0 && args[0].is == whole {
			s.literals(args[1:])
			return other
		}
	case "dig":
		if last := len(args) - 1; last > 0 && args[last].is == whole {
			s.literals(args[:1])
			args = args[:last]
		}
	}
	s.given(function.Ident, args)
	return other
}

// include adds the named template that is included. A name that begins with the path of the templates names a file.
func (s scope) include(args []operand) {
	if len(args) == 0 || args[0].node == nil {
		s.callsAny = true
		return
	}
	name, ok := args[0].literal()
	s.calls[name] = true
	s.callsAny = s.callsAny || !ok && !strings.Contains(args[0].node.String(), basePath)
}

// basePath is the field that has the path of the templates of a chart.
const basePath = ".Template.BasePath"

// literals adds keys that are operands. One that is not in the text of the template may be any.
func (s scope) literals(operands []operand) {
	for _, o := range operands {
		key, ok := o.literal()
		s.entirely(!ok)
		s.keys[key] = true
	}
}

// given notes whether a function uses the values as a whole: if it is given them, or their name, other than to build the data of a
// template in which they have that name; or if it writes all that a template has.
func (s scope) given(function string, args []operand) {
	builds := function == "dict" || function == "set"
	writes := strings.HasPrefix(function, "to") || strings.HasPrefix(function, "mustTo")
	named := false // by the argument before
	for _, o := range args {
		text, _ := o.literal()
		s.entirely(o.is == whole && !named || o.is == top && writes || text == values && !builds)
		named = builds && text == values
	}
}
