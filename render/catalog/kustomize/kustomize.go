// SPDX-License-Identifier: Apache-2.0

// Package kustomize finds what kustomize does not carry as it stands in a document, and what it cannot write.
//
// It must not know what a document means, and runs no kustomize.
package kustomize

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// maxKey bounds a key in bytes, quoted with all that may be escaped. The parser takes no more than
// 1024 for a key between brackets.
const maxKey = 1000

// checker finds what kustomize does not carry as it stands. kustomize-controller builds every
// document of the artifact with it: the nodes are read, aliases and merge keys expanded, written
// as YAML again and turned into JSON. What that refuses stops all applications, and what that
// drops or renames, Flux deletes. Measured with kustomize api and kyaml 0.21; FuzzRender of
// package render holds the rules to be enough.
type checker struct {
	found *violation.Findings
	// anchored has the traits of the anchored nodes. Nothing is expanded, and no node visited
	// twice.
	anchored map[*yaml.Node]traits
	// commented is set when the file ends with a comment.
	commented bool
}

// traits are what a node has somewhere that cannot be written in flow style, within brackets.
type traits struct {
	// omission is a value that was left out, which is null. In flow style kustomize's encoder
	// makes it the empty string: "{a: ''}".
	omission bool
	// remark is a comment beside a key, before a mapping or list in the lines below.
	remark bool
}

// Check adds to found what kustomize does not carry of a document that has a Root.
func Check(of *document.Document, found *violation.Findings) {
	checkLines(of.Data, found)
	c := checker{found: found, anchored: map[*yaml.Node]traits{}, commented: endsWithComment(of.Data)}
	c.visit(of.Root, false)
}

// CheckDocument returns the first reason why kustomize would not carry a document as it is. A document of two
// that it carries may be one that it does not.
func CheckDocument(data []byte) error {
	var found violation.Findings
	if parsed := document.Parse(data, yamlnode.MaxAliased, &found); parsed.Root != nil {
		Check(parsed, &found)
	}
	if len(found.Kept) == 0 {
		return nil
	}
	return fmt.Errorf("line %d %s", found.Kept[0].Line, found.Kept[0].Message)
}

func (c *checker) visit(node *yaml.Node, inFlow bool) (has traits) {
	c.comment(node)
	switch {
	case node.Kind == yaml.AliasNode:
		return c.alias(node, inFlow)
	case !c.tag(node):
	case node.Kind == yaml.ScalarNode:
		has.omission = isOmitted(node)
		switch {
		case has.omission && (node.Anchor != "" || node.Style != 0): // a comment beside it ends up elsewhere
			c.found.Add(node.Line, "leaves out the value after an anchor or a tag, where kustomize misplaces comments: write the value")
		case has.omission && inFlow:
			c.found.Add(node.Line, "leaves a value out within brackets, which kustomize turns into an empty string: write null")
		}
		c.scalar(node)
	default:
		has = c.children(node, inFlow || node.Style&yaml.FlowStyle != 0)
	}
	if node.Anchor != "" {
		c.anchored[node] = has
	}
	return has
}

func (c *checker) alias(node *yaml.Node, inFlow bool) traits {
	has := c.anchored[node.Alias]
	if inFlow && has.omission {
		c.found.Add(node.Line, "has within brackets the alias %s to a value that is left out, which kustomize turns into an empty string: write null", excerpt.Quoted("*"+node.Value))
	}
	if inFlow && has.remark {
		c.found.Add(node.Line, "has within brackets the alias %s to a comment beside a key, which kustomize cannot write: put the comment above the key", excerpt.Quoted("*"+node.Value))
	}
	return has
}

func (c *checker) children(node *yaml.Node, inFlow bool) (has traits) {
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			has.remark = has.remark || child.LineComment != ""
			c.key(child)
			continue
		}
		var held traits
		if node.Kind == yaml.MappingNode && yamlnode.IsMerge(node.Content[i-1]) {
			held = c.merge(child, inFlow)
		} else {
			held = c.visit(child, inFlow)
		}
		has.omission = has.omission || held.omission
		has.remark = has.remark || held.remark
	}
	return has
}

// comment refuses two comments that the parser takes for one of two lines, as of "&a # b" and
// "- c # d" below it. The encoder writes the second line wherever it is next, also into a text.
func (c *checker) comment(node *yaml.Node) {
	if strings.Contains(node.LineComment, "\n") {
		c.found.Add(node.Line, "has two comments beside it, and kustomize may make one of them a part of a text: remove one")
	}
}

// isOmitted tells a value that is not there, even if an anchor or a tag is.
func isOmitted(node *yaml.Node) bool {
	return node.Value == "" && node.Style&^yaml.TaggedStyle == 0
}

// key refuses what is no string: to Go's JSON, in which kustomize prints, such a mapping is
// unsupported. A "<<" that is no merge key is removed as if it were one. And merging confuses the
// name of an alias with the name of a key. Keys that JSON cannot have are reported already.
func (c *checker) key(written *yaml.Node) {
	c.comment(written)
	if written.Kind == yaml.AliasNode {
		c.found.Add(written.Line, "has the alias %s as a key, which kustomize may take for another: write the key", excerpt.Quoted("*"+written.Value))
		return
	}
	if _, ok := yamlnode.KeyName(written); !ok || !c.tag(written) {
		return
	}
	switch tag := written.ShortTag(); {
	case tag == "!!merge":
	case tag != "!!str":
		c.found.Add(written.Line, "has the key %s, which is %s: put it in quotes", excerpt.Quoted(written.Value), yamlnode.Describe(written))
	case written.Value == "<<":
		c.found.Add(written.Line, `has the key "<<" as a string, which kustomize drops`)
	case quotedLength(written.Value) > maxKey:
		c.found.Add(written.Line, "has the key %s, which is too long for kustomize to read again", excerpt.Quoted(written.Value))
	default:
		c.characters(written)
	}
}

// quotedLength returns the bytes of a key in quotes, as YAML or as JSON, whichever has more: kustomize prints in both.
func quotedLength(key string) int {
	inJSON, _ := json.Marshal(key) // never fails on a string
	return max(len(inJSON), len(strconv.QuoteToASCII(key)))
}

// merge refuses an alias to a list, as kustomize does, and merges in what is merged: kustomize
// expands one level, so only one of several is left, and without precedence.
func (c *checker) merge(value *yaml.Node, inFlow bool) traits {
	if value.Kind == yaml.AliasNode && yamlnode.Resolve(value).Kind == yaml.SequenceNode {
		c.found.Add(value.Line, "has a merge key << with an alias to a list, which kustomize refuses")
	}
	dialect.RefuseNested(value, c.found.Add)
	if value.Kind == yaml.SequenceNode && value.Anchor == "" && value.Style&yaml.TaggedStyle == 0 {
		return c.children(value, inFlow) // the brackets of "<<: [*a, *b]" go
	}
	return c.visit(value, inFlow)
}

// tag reports whether an explicit tag is one that the node can have. A mapping with the tag
// !!null is dropped, a scalar that is not what its tag says refused. What has the tag !!binary is
// decoded, and so hidden from all who read the document before that.
func (c *checker) tag(node *yaml.Node) bool {
	if node.Style&yaml.TaggedStyle == 0 {
		return true
	}
	ok := false
	switch tag := node.ShortTag(); tag {
	case "!!map":
		ok = node.Kind == yaml.MappingNode
	case "!!seq":
		ok = node.Kind == yaml.SequenceNode
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		var value any
		ok = node.Kind == yaml.ScalarNode && node.Decode(&value) == nil
	default:
		c.found.Add(node.Line, "has the tag %s, which has no meaning in Kubernetes", excerpt.Quoted(tag))
		return false
	}
	if !ok {
		c.found.Add(node.Line, "has the tag %s, which its value does not fit", excerpt.Quoted(node.ShortTag()))
	}
	return ok
}

// scalar checks a value that fits its tag.
func (c *checker) scalar(node *yaml.Node) {
	switch node.ShortTag() {
	case "!!float":
		if _, err := yamlnode.Scalar(node); err != nil { // JSON has no word for it
			c.found.Add(node.Line, "%s", err)
		}
	case "!!timestamp":
		c.timestamp(node)
	}
	c.characters(node)
	c.layout(node)
}

// layout refuses texts that kustomize's encoder writes so that its decoder reads another one.
func (c *checker) layout(node *yaml.Node) {
	switch text := node.Value; {
	case node.Style&yaml.LiteralStyle != 0 && strings.HasPrefix(text, "\t"): // the tab is taken for indentation
		c.found.Add(node.Line, "begins with a tab, which kustomize cannot write after |: use quotes")
	case node.Style&yaml.FoldedStyle != 0 && isUnfoldable(text): // line breaks are counted wrongly
		c.found.Add(node.Line, "is folded with > but has indented lines or empty ones at its end, to which kustomize adds: use | or quotes")
	case c.commented && (text == "\n" || strings.HasSuffix(text, "\n\n")): // a line is left free before the comment
		c.found.Add(node.Line, "ends with an empty line, to which kustomize may add one if the file ends with a comment: remove either")
	}
}

func (c *checker) characters(node *yaml.Node) {
	if problem := CharacterProblem(node.Value); problem != "" {
		c.found.Add(node.Line, "%s", problem)
	}
}

// CharacterProblem states which character of a text kustomize cannot carry, "" where it carries all of them.
func CharacterProblem(text string) string {
	i := strings.IndexFunc(text, isLost)
	if i < 0 {
		return ""
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return fmt.Sprintf("has the character %U, which kustomize cannot carry", r)
}

// timestamp refuses what kustomize rewrites: it decodes it, and prints it as JSON does.
func (c *checker) timestamp(node *yaml.Node) {
	var value time.Time
	if err := node.Decode(&value); err != nil {
		c.found.Add(node.Line, "%s is not a timestamp", excerpt.Quoted(node.Value))
		return
	}
	if carried := value.Format(time.RFC3339Nano); carried != node.Value {
		c.found.Add(node.Line, "has the timestamp %s, which kustomize turns into %s: put it in quotes", excerpt.Quoted(node.Value), excerpt.Quoted(carried))
	}
}

// IsUnwritable reports whether kustomize cannot write the value of an annotation: it takes a literal style for several
// lines, in which it cannot write a tab at the beginning.
func IsUnwritable(value string) bool {
	return strings.HasPrefix(value, "\t") && strings.Contains(value, "\n")
}

// IsUnwritableKey reports whether kustomize cannot write a key of labels or annotations: it writes these without quotes,
// so that true or 1 is no text when it is read again.
func IsUnwritableKey(key string) bool {
	plain := yaml.Node{Kind: yaml.ScalarNode, Value: key}
	return plain.ShortTag() != "!!str"
}

// isLost tells the characters that kustomize writes out raw although its reader then refuses
// them, or, with a next line (U+0085), reads a space. The other control characters it escapes.
func isLost(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == '\ufffe' || r == '\uffff'
}

func isUnfoldable(text string) bool {
	for line := range strings.Lines(text) {
		if line[0] == ' ' || line[0] == '\t' {
			return true
		}
	}
	return strings.HasSuffix(text, "\n\n")
}
