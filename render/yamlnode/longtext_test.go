// SPDX-License-Identifier: Apache-2.0

package yamlnode_test

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// logo stands for a long text in documents.
const logo = "§"

func withLogo(document string) []byte {
	return []byte(strings.ReplaceAll(document, logo, strings.Repeat("iVBORw0KGgo+/", 200)+"="))
}

// longTexts maps documents to whether Only keeps their long texts from the parser.
func longTexts() map[string]bool {
	return map[string]bool{
		"logo: §\nname: a\n":                          true,
		"logo: §\r\nname: a\r\n":                      false,
		"a: {b: [1, 2]}\nlogo: \"§\"":                 true,
		"logo: '§'\nnext: # c\n- '§'\n":               true,
		"- data:image/png;base64,§\n- x\n":            true,
		"text: |\n  a\n  b §\n  c\n":                  true,
		"text: >\n  a\n  b §\n  §\n\n":                true,
		"a: \"b\n  §\n  c\"\n":                        true,
		"a: b\n  §\n":                                 true,
		"a: &b §\nc: *b\n":                            true,
		"a: !!str §\n":                                true,
		"a: [b, §\n]\n":                               true,
		"a: {b: §\n}\n":                               true,
		"--- §\n":                                     true,
		"a: §\n---\n":                                 true,
		"# §\na: 1\n":                                 false,
		"a: 1 # §\n":                                  false,
		"a: &§\n  b\n":                                false,
		"a: & §\n":                                    false,
		"a: ! §\n":                                    true,
		"? §\n: a\n":                                  false,
		"? [ §\n]\n: a\n":                             false,
		"a: §\n---\nb: 1\n":                           false,
		"\ufeffa: §\n":                                false,
		"a: 1\n§\n":                                   false,
		"a: \"\\§\"\n":                                false,
		"a: \"\\\"§\"\n":                              true,
		"a: | §\n":                                    false,
		"%YAML 1.2 §\n---\na: 1\n":                    false,
		"%TAG ! §\n---\na: 1\n":                       false,
		"a: §\nb: WinnowLongText0z\n":                 false,
		"a: " + strings.Repeat("0", 600) + "\n":       false,
		"a: " + strings.Repeat("1", 600) + "\n":       true,
		"a: '" + strings.Repeat("1", 600) + "'\n":     true,
		"a: !!int " + strings.Repeat("1", 600) + "\n": true,
		"a: " + strings.Repeat("x", 511) + "\n":       false,
	}
}

func TestLongTextsAreReadAsTheParserReadsThem(t *testing.T) {
	for document, want := range longTexts() {
		data := withLogo(document)
		content := yamlnode.Only(data)
		if (content != nil) != want {
			t.Errorf("%q: kept from the parser: %t, want %t", document, content != nil, want)
		}
		compareWithParser(t, data, content)
	}
}

// compareWithParser fails if content is neither nil nor what the parser reads of data.
func compareWithParser(t *testing.T, data []byte, content *yaml.Node) {
	t.Helper()
	if content == nil {
		return
	}
	var all []*yaml.Node
	for document, err := range yamlnode.Documents(data) {
		if err != nil {
			t.Fatalf("%q: the parser fails: %s", data, err)
		}
		all = append(all, document.Content[0])
	}
	if len(all) != 1 || !reflect.DeepEqual(content, all[0]) {
		t.Fatalf("%q is read as another document than the parser reads", data)
	}
}

// FuzzOnly compares documents that have long texts somewhere with what the parser makes of them.
func FuzzOnly(f *testing.F) {
	for document := range longTexts() {
		f.Add(document, "iVBORw0KGgo")
		f.Add(document, "1")
	}
	f.Fuzz(func(t *testing.T, document, text string) {
		if len(document) > 2000 || len(text) == 0 || len(text) > 100 {
			return
		}
		data := []byte(strings.ReplaceAll(document, logo, strings.Repeat(text, 1+520/len(text))))
		if len(data) < 100_000 {
			compareWithParser(t, data, yamlnode.Only(data))
		}
	})
}
