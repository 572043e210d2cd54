// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// templateFunctions are what a template may call: functions whose result is about as long as their arguments.
func templateFunctions() []string { return []string{"print", "and", "or", "not", "eq", "ne"} }

// execute executes a text as KKP does, without data: the templates of Go with no functions but the builtin
// ones. It refuses what needs data, and what could take long: loops, definitions, variables.
func (e *execution) execute(text string) (string, error) {
	actions := strings.Count(text, kkp.LeftDelimiter)
	if actions == 0 {
		return text, nil
	}
	if e.left -= actions; e.left < 0 {
		return "", fmt.Errorf("the default values have more than %d template actions", kkp.MaxActions)
	}
	tree := parse.New("value")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return "", fmt.Errorf("is no valid template: %s", excerpt.Quoted(strings.TrimPrefix(err.Error(), "template: ")))
	}
	if len(trees) > 1 || tree.Root == nil {
		return "", errors.New("defines other templates, which is not allowed here")
	}
	if err := checkNode(tree.Root); err != nil {
		return "", err
	}
	executed, err := template.New("value").AddParseTree("value", tree)
	if err != nil {
		return "", fmt.Errorf("is no valid template: %s", excerpt.Quoted(err.Error()))
	}
	var out strings.Builder
	if err := executed.Execute(&out, nil); err != nil {
		return "", fmt.Errorf("is a template that fails: %s", excerpt.Quoted(err.Error()))
	}
	return out.String(), nil
}

// checkNode returns why a node of a template cannot be executed.
func checkNode(node parse.Node) error {
	switch typed := node.(type) {
	case *parse.ListNode:
		if typed == nil {
			return nil
		}
		return checkNodes(typed.Nodes)
	case *parse.TextNode, *parse.CommentNode, *parse.StringNode, *parse.NumberNode, *parse.BoolNode, *parse.NilNode:
		return nil
	case *parse.ActionNode:
		return checkNode(typed.Pipe)
	case *parse.IfNode:
		return errors.Join(checkNode(typed.Pipe), checkNode(typed.List), checkNode(typed.ElseList))
	case *parse.PipeNode:
		if len(typed.Decl) > 0 {
			return fmt.Errorf("is a template with the variable %s, which is not allowed here", excerpt.Quoted(typed.Decl[0].String()))
		}
		return checkNodes(typed.Cmds)
	case *parse.CommandNode:
		return checkNodes(typed.Args)
	case *parse.IdentifierNode:
		if slices.Contains(templateFunctions(), typed.Ident) {
			return nil
		}
		if !kkp.HasFunction(typed.Ident) {
			return fmt.Errorf("is a template with the function %s, which KKP does not have either", excerpt.Quoted(typed.Ident))
		}
		return fmt.Errorf("is a template with the function %s, which is not known here", excerpt.Quoted(typed.Ident))
	case *parse.DotNode, *parse.FieldNode, *parse.ChainNode, *parse.VariableNode:
		if len(kkp.TemplateProblems("{{ "+node.String()+" }}")) > 0 {
			return fmt.Errorf("is a template that needs %s, which KKP does not have either", excerpt.Quoted(node.String()))
		}
		return fmt.Errorf("is a template that needs %s, which only KKP has", excerpt.Quoted(node.String()))
	default:
		return fmt.Errorf("is a template with %s, which is not allowed here", excerpt.Quoted(node.String()))
	}
}

func checkNodes[N parse.Node](nodes []N) error {
	for _, node := range nodes {
		if err := checkNode(node); err != nil {
			return err
		}
	}
	return nil
}
