package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Rules on what the API server refuses without any webhook. Flux dry-runs all objects before it applies
// one, so that one definition that is refused keeps all the others from being applied.
const (
	misspeltFieldRule     = "schema/misspelt-field"
	unknownFieldRule      = "schema/unknown-field"
	typeRule              = "schema/type"
	valueRule             = "schema/value"
	apiVersionRule        = "schema/api-version"
	unknownGroupRule      = "schema/unknown-group"
	namespaceRule         = "schema/namespace"
	kkpRequiredRule       = "kkp/required"
	cozystackRequiredRule = "cozystack/required"
	definedRule           = "crds/invalid"
	undefinedRule         = "crds/missing"
	schemaRulesSeverity   = Error
)

func schemaRules() []Rule {
	return []Rule{
		{misspeltFieldRule, schemaRulesSeverity, "no field is misspelt"},
		{unknownFieldRule, Warning, "all fields are known"},
		{typeRule, schemaRulesSeverity, "fields have values of their type"},
		{valueRule, schemaRulesSeverity, "fields have values that the platform knows"},
		{apiVersionRule, schemaRulesSeverity, "apiVersion is one that the platform serves"},
		{unknownGroupRule, Warning, "the API group is one whose fields are known"},
		{namespaceRule, Warning, "what is of no namespace names none"},
		{kkpRequiredRule, schemaRulesSeverity, "the fields that KKP's API requires are there"},
		{cozystackRequiredRule, schemaRulesSeverity, "the fields that Cozystack's API requires are there"},
		{definedRule, schemaRulesSeverity, "the CustomResourceDefinitions accept the definition"},
		{undefinedRule, schemaRulesSeverity, "the CustomResourceDefinitions have the kind"},
	}
}

// reportRule adds a finding of a rule in the line of a field.
type reportRule func(rule string, at field, format string, args ...any)

// checkSchema compares a definition with what is known of its platform.
func checkSchema(d *definition, report reportRule) {
	at := d.root.get("apiVersion")
	group, version, ok := strings.Cut(at.text(), "/")
	if !ok {
		return // the format of the catalog refuses it
	}
	var groups []string
	for _, p := range platforms() {
		groups = append(groups, p.group)
		if p.group != group {
			continue
		}
		if p.version != version {
			report(apiVersionRule, at, "apiVersion %s is not served: did you mean %s/%s?", quote(at.text()), p.group, p.version)
			return
		}
		s := schemaCheck{required: p.required, report: report}
		s.value(d.root, p.root)
		return
	}
	if meant := spelling.Typo(group, groups); meant != "" {
		report(apiVersionRule, at, "apiVersion %s has a group that is not known: did you mean %s?", quote(at.text()), meant)
		return
	}
	report(unknownGroupRule, at, "apiVersion %s has a group that is not known: --crds checks the definition", quote(at.text()))
}

// checkNamespace looks at what the API server drops in silence, so that no CustomResourceDefinition tells.
func checkNamespace(d *definition, report reportRule) {
	group, _, _ := strings.Cut(d.root.get("apiVersion").text(), "/")
	namespace := d.root.get("metadata", "namespace")
	if namespace.text() != "" && slices.ContainsFunc(platforms(), func(p platform) bool { return p.group == group }) {
		report(namespaceRule, namespace, "metadata.namespace %s has no effect: definitions are of no namespace",
			quote(namespace.text()))
	}
}

type schemaCheck struct {
	required string
	report   reportRule
}

// value checks a value that is set. Documents are bounded, and so is the recursion.
func (c schemaCheck) value(at field, known shape) {
	if !known.fits(at) {
		c.report(typeRule, at, "%s must be %s, not %s%s", shownPath(at), known.kind, yamlnode.Describe(at.node), remedy(at, known))
		return
	}
	switch at.node.Kind {
	case yaml.MappingNode:
		c.mapping(at, known)
	case yaml.SequenceNode:
		for _, element := range at.items() {
			c.below(element, known.elements)
		}
	case yaml.ScalarNode:
		c.text(at, known)
	}
}

// text checks what a text may be.
func (c schemaCheck) text(at field, known shape) {
	switch {
	case known.filled && at.node.Value == "":
		c.report(c.required, at, "%s is empty", shownPath(at))
	case known.choices != nil && !slices.Contains(known.choices, at.node.Value):
		c.report(valueRule, at, "%s must be one of %s, not %s", shownPath(at), strings.Join(known.choices, ", "), quote(at.node.Value))
	case known.pattern != "" && !regexp.MustCompile(known.pattern).MatchString(at.node.Value):
		c.report(valueRule, at, "%s must match %s, which %s does not", shownPath(at), known.pattern, quote(at.node.Value))
	}
}

func (c schemaCheck) below(at field, known *shape) {
	switch {
	case known == nil:
	case at.isSet():
		c.value(at, *known)
	case known.kind != "" && !known.defaulted:
		c.report(typeRule, at, "%s must be %s, not null: leave it out", shownPath(at), known.kind)
	}
}

func (c schemaCheck) mapping(at field, known shape) {
	for _, member := range at.members() {
		shape, ok := known.member(member.name)
		switch {
		case known.members == nil:
			c.below(member.field, known.elements)
		case !ok:
			c.unknown(member, known)
		case member.isSet() || !slices.Contains(known.required(), member.name): // null is missing, see below
			c.below(member.field, &shape)
		}
	}
	for _, name := range known.required() {
		if member := at.member(name); !member.isSet() {
			c.report(c.required, member, "%s is missing", member.path)
		}
	}
}

func (c schemaCheck) unknown(at entry, known shape) {
	if meant := spelling.Typo(at.name, known.names()); meant != "" {
		c.report(misspeltFieldRule, at.field, "%s is no field: did you mean %s?", shownPath(at.field), meant)
		return
	}
	c.report(unknownFieldRule, at.field, "%s is a field that Winnow does not know: an API that does not have it refuses all applications",
		shownPath(at.field))
}

// maxPath bounds the path of a field in a message, in bytes: keys are free in some mappings.
const maxPath = 160

func shownPath(at field) string { return excerpt.To(at.path, maxPath) }

// remedy says how a value becomes text.
func remedy(at field, known shape) string {
	switch {
	case known.kind != textKind:
		return ""
	case at.node.Kind == yaml.ScalarNode:
		return ": put it in quotes"
	case at.node.Kind == yaml.MappingNode:
		return fmt.Sprintf(": write %s: | and the text below it", excerpt.Of(at.path[strings.LastIndex(at.path, ".")+1:]))
	}
	return ""
}
