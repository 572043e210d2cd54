// SPDX-License-Identifier: Apache-2.0

package kkp

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// MaxActions bounds the actions of templates, and thereby how deep they are nested.
const MaxActions = 10_000

// maxProblems bounds what is reported of a text: one action may have any number of names.
const maxProblems = 20

// templateData is what KKP gives to the templates in values: TemplateData in its pkg/applications, as of KKP 2.31.
type templateData struct {
	Cluster struct {
		Name, HumanReadableName, OwnerEmail           string
		Version, MajorMinorVersion, AutoscalerVersion string
		Address                                       struct {
			URL, ExternalName, InternalName, AdminToken, IP, APIServerExternalAddress string
			Port                                                                      int32
		}
		Annotations, Labels map[string]string
	}
}

// TemplateProblems returns why KKP cannot execute the templates in a text: they have its data, and the functions of Go alone.
// It is empty for texts with more than MaxActions actions, and has at most maxProblems.
func TemplateProblems(text string) []string {
	if actions := strings.Count(text, LeftDelimiter); actions == 0 || actions > MaxActions {
		return nil
	}
	tree := parse.New("value")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return []string{"is no valid template: " + excerpt.Quoted(strings.TrimPrefix(err.Error(), "template: "))}
	}
	data := reflect.TypeFor[templateData]()
	u := unserved{trees: trees, root: data}
	u.list(tree.Root, data)
	delete(trees, tree.Name)
	u.root = nil // what a call gives
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		u.list(trees[name].Root, nil)
	}
	return u.problems
}

// unserved collects what a template needs and KKP lacks. A type that is not known is nil, and has everything.
type unserved struct {
	trees    map[string]*parse.Tree
	root     reflect.Type
	problems []string
}

func (u *unserved) lacks(format, name string) {
	if len(u.problems) == maxProblems {
		return
	}
	u.problems = each.Union(u.problems, fmt.Sprintf(format, excerpt.Quoted(name)))
}

func (u *unserved) list(list *parse.ListNode, dot reflect.Type) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch typed := node.(type) {
		case *parse.ActionNode:
			u.pipe(typed.Pipe, dot)
		case *parse.IfNode:
			u.branch(typed.BranchNode, dot, func(reflect.Type) reflect.Type { return dot })
		case *parse.WithNode:
			u.branch(typed.BranchNode, dot, func(value reflect.Type) reflect.Type { return value })
		case *parse.RangeNode:
			u.branch(typed.BranchNode, dot, element)
		case *parse.TemplateNode:
			u.pipe(typed.Pipe, dot)
			if u.trees[typed.Name] == nil {
				u.lacks("is a template that calls the template %s, which KKP does not have", typed.Name)
			}
		}
	}
}

// branch checks both lists of a node, the first with what inner makes of the value as its dot.
func (u *unserved) branch(node parse.BranchNode, dot reflect.Type, inner func(value reflect.Type) reflect.Type) {
	value := u.pipe(node.Pipe, dot)
	u.list(node.List, inner(value))
	u.list(node.ElseList, dot)
}

// element returns the type of the elements of a mapping.
func element(value reflect.Type) reflect.Type {
	if value != nil && value.Kind() == reflect.Map {
		return value.Elem()
	}
	return nil
}

// pipe returns the type of the value, which is known for a field alone.
func (u *unserved) pipe(pipe *parse.PipeNode, dot reflect.Type) (value reflect.Type) {
	if pipe == nil {
		return nil
	}
	for _, command := range pipe.Cmds {
		for _, argument := range command.Args {
			value = u.argument(argument, dot)
		}
		if len(command.Args) > 1 {
			value = nil
		}
	}
	return value
}

func (u *unserved) argument(node parse.Node, dot reflect.Type) reflect.Type {
	switch typed := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return u.field(typed, dot, typed.Ident)
	case *parse.VariableNode:
		if typed.Ident[0] == "$" {
			return u.field(typed, u.root, typed.Ident[1:])
		}
	case *parse.ChainNode:
		return u.field(typed, u.argument(typed.Node, dot), typed.Field)
	case *parse.PipeNode:
		return u.pipe(typed, dot)
	case *parse.IdentifierNode:
		if !HasFunction(typed.Ident) {
			u.lacks("is a template with the function %s, which KKP does not have", typed.Ident)
		}
	}
	return nil
}

// HasFunction reports whether the templates of KKP have a function, which is a name of a template.
func HasFunction(name string) bool {
	_, err := template.New("").Parse("{{ " + name + " }}")
	return err == nil
}

// field returns the type of a field of a value.
func (u *unserved) field(node parse.Node, value reflect.Type, names []string) reflect.Type {
	for _, name := range names {
		switch {
		case value == nil:
			return nil
		case value.Kind() == reflect.Map:
			value = value.Elem()
			continue
		case value.Kind() == reflect.Struct:
			if found, ok := value.FieldByName(name); ok {
				value = found.Type
				continue
			}
		}
		u.lacks("is a template that needs %s, which KKP does not have", node.String())
		return nil
	}
	return value
}
