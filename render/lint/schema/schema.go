// SPDX-License-Identifier: Apache-2.0

// Package schema has the rules of lint on the fields of definitions: the fields that the API server refuses without any
// webhook. It checks them against the CustomResourceDefinitions of a cluster or, without these, against the known
// fields of KKP and Cozystack.
//
// The package must not know the files of a catalog, nor how a cluster is reached.
package schema

import (
	"context"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/spelling"
)

// Schemas are the CustomResourceDefinitions of a cluster.
type Schemas interface {
	// Check returns what the API server would refuse of an object. known is false if the schemas do
	// not have its kind. The error is for a document that cannot be read.
	Check(ctx context.Context, document []byte) (problems []Problem, known bool, err error)
}

// Problem is what an API server would refuse.
type Problem struct {
	// Field is the path of the field, such as spec.versions[0].version; empty for the whole object.
	Field string
	// Message describes what is wrong with it.
	Message string
}

// MaxFindings of a definition are reported.
const MaxFindings = 100

// Check checks a definition against the schemas, or if they are nil against what is known. root is what can be read of
// it. It calls report for each finding. The error is the context's.
func Check(ctx context.Context, document []byte, root field.Field, schemas Schemas, report func(rule rules.Rule, at field.Field, format string, args ...any)) error {
	if !root.IsSet() {
		return nil
	}
	byID := each.By(Rules(), func(rule rules.Rule) string { return rule.ID })
	found := 0
	reportFirst := func(rule string, at field.Field, format string, args ...any) {
		if found++; found <= MaxFindings {
			report(byID[rule], at, format, args...)
		}
	}
	checkNamespace(root, reportFirst)
	checkOpenAPISchema(root, reportFirst)
	if schemas == nil {
		checkSchema(root, reportFirst)
		return nil
	}
	return checkCluster(ctx, document, root, schemas, reportFirst)
}

// checkSchema compares a definition with what is known of its platform.
func checkSchema(root field.Field, report reportRule) {
	at := root.Get("apiVersion")
	group, version, ok := strings.Cut(at.Text(), "/")
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
			report(apiVersionRule, at, "apiVersion %s is not served: did you mean %s/%s?", excerpt.Quoted(at.Text()), p.group, p.version)
			return
		}
		p.check(root, report)
		return
	}
	if meant := spelling.Typo(group, groups); meant != "" {
		report(apiVersionRule, at, "apiVersion %s has a group that is not known: did you mean %s?", excerpt.Quoted(at.Text()), meant)
		return
	}
	if definition.IsCozystack(root.Get("spec")) {
		report(unknownGroupRule, at, "apiVersion %s has a group that no release of Cozystack serves: its fields are checked as in Cozystack's proposal, and --crds checks the definition", excerpt.Quoted(at.Text()))
		cozystack().check(root, report)
		return
	}
	report(unknownGroupRule, at, "apiVersion %s has a group that is not known: --crds checks the definition", excerpt.Quoted(at.Text()))
}

// checkNamespace looks at what the API server drops in silence, so that no CustomResourceDefinition tells.
func checkNamespace(root field.Field, report reportRule) {
	group, _, _ := strings.Cut(root.Get("apiVersion").Text(), "/")
	namespace := root.Get("metadata", "namespace")
	if namespace.Text() != "" && slices.ContainsFunc(platforms(), func(p platform) bool { return p.group == group }) {
		report(namespaceRule, namespace, "metadata.namespace %s has no effect: definitions are of no namespace",
			excerpt.Quoted(namespace.Text()))
	}
}

// checkCluster checks a definition against the schemas.
func checkCluster(ctx context.Context, document []byte, root field.Field, schemas Schemas, report reportRule) error {
	problems, known, err := schemas.Check(ctx, document)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		report(definedRule, root, "cannot be read: %s", excerpt.Of(err.Error()))
	case !known:
		report(undefinedRule, root.Get("apiVersion"), "no CustomResourceDefinition has %s of %s",
			excerpt.Quoted(root.Get("kind").Text()), excerpt.Quoted(root.Get("apiVersion").Text()))
	}
	for _, p := range problems {
		report(definedRule, root.At(p.Field), "%s", strings.TrimPrefix(excerpt.To(p.Field, maxPath)+": "+p.Message, ": "))
	}
	return nil
}
