// SPDX-License-Identifier: Apache-2.0

package kkp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backend/kkp"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// valuesRules are those on what a definition carries in other formats: values and logo.
func valuesRules() []rule {
	return []rule{
		rules.NewChecked("kkp/values-mapping", rules.Error, "the default values are a mapping", valuesMapping),
		rules.NewChecked("kkp/values-yaml", rules.Warning, "spec.defaultValuesBlock is YAML", valuesYAML),
		rules.NewChecked("kkp/template", rules.Error, "the templates in default values need what KKP has", templates),
		rules.NewChecked("kkp/values-refused", rules.Error, "KKP's webhook can read the default values", valuesRefused),
		rules.NewChecked("kkp/values-ambiguous", rules.Warning, "the default values are one document, without a key twice", valuesAmbiguous),
		rules.NewChecked("kkp/values-deprecated", rules.Info, "values are in spec.defaultValuesBlock", valuesDeprecated),
		rules.NewChecked("kkp/logo", rules.Warning, "spec.logo is base64 of an image of the stated format", logo),
		rules.NewChecked("kkp/logo-type", rules.Error, "spec.logoFormat is svg+xml or png", logoType),
		rules.NewChecked("kkp/logo-format", rules.Warning, "a logo comes with its format", logoFormat),
	}
}

// block parses spec.defaultValuesBlock. root is nil where it is empty.
func block(root field.Field) (at field.Field, values *yaml.Node, err error) {
	at = root.Get("spec", "defaultValuesBlock")
	if at.Text() == "" {
		return at, nil, nil
	}
	values, err = yamlnode.First([]byte(at.Text()))
	if values != nil && hasTemplate(values) {
		err = errTemplate
	}
	return at, values, err
}

var errTemplate = errors.New("a template without quotes is read as a mapping that is a key")

// hasTemplate reports whether a key is a mapping, as a template without quotes is. It visits no node twice.
func hasTemplate(node *yaml.Node) bool {
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.MappingNode || hasTemplate(child) {
			return true
		}
	}
	return false
}

func valuesMapping(root field.Field, report field.Report) {
	at, values, err := block(root)
	if err == nil && values != nil && values.Kind != yaml.MappingNode && !yamlnode.IsNull(values) {
		report(at, "spec.defaultValuesBlock must be a mapping of values")
	}
	if at := root.Get("spec", "defaultValues"); at.IsSet() && at.Node.Kind != yaml.MappingNode {
		report(at, "spec.defaultValues must be a mapping of values")
	}
}

func valuesYAML(root field.Field, report field.Report) {
	at, _, err := block(root)
	if err == nil {
		return
	}
	problem := excerpt.Of(strings.TrimPrefix(err.Error(), "yaml: "))
	report(at, "spec.defaultValuesBlock is not YAML, so no values can be merged into it: %s", problem)
}

// templates looks at keys, too, which KKP executes as well.
func templates(root field.Field, report field.Report) {
	check := func(at field.Field, text string) {
		for _, problem := range kkp.TemplateProblems(text) {
			report(at, "%s %s: escape what is for the chart, as in {{ `{{ .Values.name }}` }}", backend.PrintablePath(at.Path), problem)
		}
	}
	eachText(root.Get("spec", "defaultValues"), check)
	at, values, err := block(root)
	if err != nil || values == nil || yamlnode.ValidateLastWins(values) != nil {
		return
	}
	eachText(field.Field{Path: at.Path, Node: values}, func(found field.Field, text string) {
		if at.Node.Style != yaml.LiteralStyle {
			found.Line = 0
		}
		found.Line += at.Node.Line
		check(found, text)
	})
}

// eachText calls f for the keys and the texts of values.
func eachText(values field.Field, f func(at field.Field, text string)) {
	for _, member := range values.Members() {
		f(member.Field, member.Name)
		eachText(member.Field, f)
	}
	for _, item := range values.Items() {
		eachText(item, f)
	}
	if text := values.Text(); text != "" {
		f(values, text)
	}
}

// refusal returns why the webhook refuses a block that is YAML; nil without a block.
func refusal(root field.Field) (at field.Field, err error) {
	at, values, err := block(root)
	if err == nil && values != nil {
		_, err = dialect.JSON([]byte(at.Text()))
		return at, err
	}
	return field.Field{}, nil
}

func valuesRefused(root field.Field, report field.Report) {
	if at, err := refusal(root); err != nil {
		problem := excerpt.Of(strings.TrimPrefix(err.Error(), "yaml: "))
		report(at, "KKP's webhook refuses spec.defaultValuesBlock: %s: put .inf and .nan in quotes, and use texts as keys", problem)
	}
}

// valuesAmbiguous reports what KKP and Helm 3 leave out without a word.
func valuesAmbiguous(root field.Field, report field.Report) {
	at, err := refusal(root)
	if err != nil || !at.IsSet() {
		return
	}
	text := []byte(strings.Repeat("\n", at.Line) + at.Text()) // so that errors have the lines of the file
	values, err := dialect.Values(text)
	if err != nil {
		report(at, "spec.defaultValuesBlock cannot be merged into, or installed by Flux: %s", err)
	}
	read := 0
	if err == nil && values == nil {
		read++ // the empty document above the first one that Documents has
	}
	for document, err := range yamlnode.Documents(text) {
		if err != nil {
			at.Line, _ = yamlnode.Position(err, text)
		} else if read > 0 {
			at.Line = document.Content[0].Line
		}
		if read++; read > 1 {
			report(at, "spec.defaultValuesBlock has a further document, which KKP and Flux do not read: remove it")
			return
		}
	}
}

func valuesDeprecated(root field.Field, report field.Report) {
	if at := root.Get("spec", "defaultValues"); at.IsSet() {
		report(at, "spec.defaultValues is deprecated: use spec.defaultValuesBlock")
	}
}

var pngHeader = []byte("\x89PNG\r\n\x1a\n")

func logo(root field.Field, report field.Report) {
	at, format := root.Get("spec", "logo"), root.Get("spec", "logoFormat")
	if at.Text() == "" {
		return
	}
	image, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(at.Text()), ""))
	switch {
	case err != nil:
		report(at, "spec.logo is not base64: %s", err)
	case format.Text() == "png" && !bytes.HasPrefix(image, pngHeader):
		report(at, "spec.logo is not a PNG image, as spec.logoFormat says")
	case format.Text() == "svg+xml" && !bytes.Contains(image, []byte("<svg")):
		report(at, "spec.logo is not an SVG image, as spec.logoFormat says")
	}
}

func logoType(root field.Field, report field.Report) {
	at := root.Get("spec", "logoFormat")
	if at.IsSet() && at.Text() != "svg+xml" && at.Text() != "png" {
		report(at, "spec.logoFormat must be svg+xml or png, not %s", excerpt.Quoted(at.Node.Value))
	}
}

func logoFormat(root field.Field, report field.Report) {
	if at := root.Get("spec", "logo"); at.Text() != "" && !root.Get("spec", "logoFormat").IsSet() {
		report(at, "spec.logo has no spec.logoFormat: write svg+xml or png")
	}
}
