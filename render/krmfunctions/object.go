// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// object is a mapping of a document.
type object struct {
	*report

	node *yaml.Node
	line int
	// name of the object in messages.
	name string
	// missing are fields that describe it.
	missing []string
	// misspelt maps known fields to those that resemble them.
	misspelt map[string]string
}

// object returns a node as a mapping, or nil after it has reported another one.
func (r *report) object(node *yaml.Node, name string) *object {
	node = yamlnode.Resolve(node)
	if node.Kind != yaml.MappingNode {
		r.refuse(node.Line, "%s must be a mapping, not %s", name, yamlnode.Describe(node))
		return nil
	}
	return &object{report: r, node: node, line: node.Line, name: name, misspelt: map[string]string{}}
}

// known warns of fields that are none of these: nothing reads them.
func (o *object) known(names ...string) {
	for _, entry := range yamlnode.Entries(o.node) {
		if slices.Contains(names, entry.Name) {
			continue
		}
		meant := ""
		if near := spelling.Nearest(entry.Name, names); len(near) > 0 {
			meant = "; did you mean " + strings.Join(near, " or ") + "?"
			o.misspelt[near[0]] = entry.Name
		}
		o.warn(entry.Line, "%s has the field %s, which is not known%s", o.name, quote(entry.Name), meant)
	}
}

// lack refuses an object that has none of the fields, and names the fields that resemble them.
func (o *object) lack(line int, message string, fields ...string) {
	for _, name := range fields {
		if near := o.misspelt[name]; near != "" {
			message += fmt.Sprintf("; the field %s is not known: did you mean %s?", quote(near), name)
		}
	}
	o.refuse(line, "%s", message)
}

// text returns a field that is a string, and its line, or the line of the object if it is missing or null.
func (o *object) text(name string) (value string, line int) {
	entry, ok := yamlnode.Find(o.node, name)
	if !ok || yamlnode.IsNull(entry.Value) {
		return "", o.line
	}
	value, isText := yamlnode.Text(entry.Value)
	if !isText {
		o.refuse(entry.Line, "%s must be a string, not %s", name, yamlnode.Describe(entry.Value))
	}
	return value, entry.Line
}

// described returns a field that is a string. It remembers one that is missing for lacks.
func (o *object) described(name string) string {
	value, _ := o.text(name)
	if value == "" {
		o.missing = append(o.missing, name)
	}
	return value
}

// lacks warns of the fields that are missing.
func (o *object) lacks() {
	if len(o.missing) > 0 {
		o.warn(o.line, "%s does not have %s", o.name, strings.Join(o.missing, ", "))
	}
}

// flag returns a field that is a boolean; ok is false without it.
func (o *object) flag(name string) (value, ok bool) {
	entry, ok := yamlnode.Find(o.node, name)
	if !ok || yamlnode.IsNull(entry.Value) {
		return false, false
	}
	if entry.Value.ShortTag() == "!!bool" {
		plain, err := yamlnode.Scalar(entry.Value)
		value, ok = plain.(bool)
		if err == nil && ok {
			return value, true
		}
	}
	o.refuse(entry.Line, "%s must be true or false, not %s", name, yamlnode.Describe(entry.Value))
	return false, false
}

// texts returns a field that is a list of strings.
func (o *object) texts(name string) (values []string) {
	entry, ok := yamlnode.Find(o.node, name)
	if !ok || yamlnode.IsNull(entry.Value) {
		return nil
	}
	for _, element := range o.elements(entry) {
		value, isText := yamlnode.Text(element)
		if !isText {
			o.refuse(element.Line, "%s must be a list of strings, and has %s", name, yamlnode.Describe(element))
			continue
		}
		values = append(values, value)
	}
	return values
}

// elements returns the elements of a list, without aliases at their top.
func (o *object) elements(list yamlnode.Entry) (elements []*yaml.Node) {
	if list.Value.Kind != yaml.SequenceNode {
		o.refuse(list.Line, "%s must be a list, not %s", list.Name, yamlnode.Describe(list.Value))
		return nil
	}
	return each.Map(list.Value.Content, yamlnode.Resolve)
}

// within returns a field that is a mapping; nil if it is missing, null or no mapping.
func (o *object) within(name string) *object {
	entry, ok := yamlnode.Find(o.node, name)
	if !ok || yamlnode.IsNull(entry.Value) {
		return nil
	}
	inner := o.object(entry.Value, name)
	if inner != nil {
		inner.line = entry.Line
	}
	return inner
}

// maxFindings are kept of the errors of a catalog, and of its warnings.
const maxFindings = 1000

// InvalidError reports a catalog with errors: its findings, in the order of the files. There is at least one.
type InvalidError struct{ finding.Findings }

// invalid returns an *InvalidError, or nil without findings.
func invalid(found finding.Findings) error {
	if len(found.Kept) == 0 {
		return nil
	}
	return &InvalidError{found}
}

// Error lists the first errors and the number of the others.
func (e *InvalidError) Error() string { return "invalid catalog of functions: " + e.String() }

// report collects the findings of a file: an error makes a function unusable, a warning names a fact that readers miss.
type report struct {
	path             string
	errors, warnings finding.Findings
}

func (r *report) refuse(line int, format string, args ...any) {
	r.errors.Add(maxFindings, finding.Finding{Path: r.path, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (r *report) warn(line int, format string, args ...any) {
	r.warnings.Add(maxFindings, finding.Finding{Path: r.path, Line: line, Message: fmt.Sprintf(format, args...)})
}

// quote returns text of the catalog for a message, cut when it is long.
func quote(text string) string { return excerpt.Quoted(text) }
