// SPDX-License-Identifier: Apache-2.0

package dialect_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamledit"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

const (
	// seed makes the documents the same in each run; documents bounds their number.
	seed      = 49
	documents = 3000
)

// generator writes documents with what readers of YAML disagree on.
type generator struct {
	*rand.Rand

	anchors int
}

func (g *generator) of(all ...string) string { return all[g.IntN(len(all))] }

func (g *generator) key() string {
	if g.IntN(8) > 0 {
		return g.of("a", "b", "c", "d", `"a"`, `"8"`, `"true"`)
	}
	return g.of("yes", "no", "on", "y", "N", "true", "1", "1.10", "0x50", "010", "8", "~", "2021-01-01", `"<<"`, "[a]")
}

func (g *generator) scalar() string {
	return g.of("1", "x", `"x"`, "yes", "No", "on", "OFF", "y", "n", "true", "~", "", "null", "2021-01-01", "2001-12-14t21:59:43.10-05:00",
		"017", "0o17", "0b11", "0x1F", "1_000", "1e3", "1.10", "1:30", "+1", "9007199254740993", "18446744073709551615", "99999999999999999999",
		".inf", ".nan", "1e400", `"yes"`, `"2021-01-01"`, "'017'", "!!str 1", "!!int x", "!!float 1", "[1, no, 2021-01-01]", "{a: no}", "{}",
		"{a: , b}", "[~, {a}]", "{a: !!null , b: 1}", "!!null ''", "[[], [1: ]]")
}

// mapping returns the lines of a mapping in block style.
func (g *generator) mapping(depth int) (lines []string) {
	for range 1 + g.IntN(4) {
		switch key := g.key(); {
		case g.anchors > 0 && g.IntN(4) == 0:
			lines = append(lines, "<<: "+g.of(g.alias(), g.alias(), "["+g.alias()+", {a: 5, d: yes}]", "{a: 7, yes: 8}", "~"))
		case depth < 3 && g.IntN(3) == 0:
			head := key + ":"
			if strings.HasPrefix(key, "[") {
				head = "? " + key + "\n:"
			}
			below := g.mapping(depth + 1)
			if g.IntN(2) == 0 {
				g.anchors++
				head += fmt.Sprintf(" &m%d", g.anchors)
			}
			lines = append(lines, head)
			for _, line := range below {
				lines = append(lines, "  "+line)
			}
		default:
			lines = append(lines, key+": "+g.scalar())
		}
	}
	return lines
}

func (g *generator) alias() string { return fmt.Sprintf("*m%d", 1+g.IntN(g.anchors)) }

func (g *generator) text() string {
	g.anchors = 0
	text := g.of("", "", "", "---\n", "---\n---\n", "# a\n") + strings.Join(g.mapping(0), "\n") + "\n"
	return text + g.of("", "", "", "---\nb: 2\n", "...\nb: 2\n", "---\n", "# z\n")
}

// kustomized returns an object as kustomize builds it, and Flux reads what it has built.
func kustomized(text string) (content any, err error) {
	built, err := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()).NewResMapFromBytes([]byte(text))
	if err != nil {
		return nil, err
	}
	encoded, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	return content, yaml.Unmarshal(encoded, &content)
}

func TestObjectsAreReadAsKustomizeReadsThem(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	accepted := 0
	for range documents {
		g.anchors = 0
		text := "kind: X\napiVersion: v1\nmetadata: {name: x}\nspec:\n  " + strings.Join(g.mapping(0), "\n  ") + "\n" + g.of("", "...\nb: 2\n")
		want, refused := kustomized(text)
		content, err := dialect.Kustomize([]byte(text))
		if _, ok := errors.AsType[dialect.Errors](err); err != nil && !ok {
			t.Fatalf("%T is no list of errors", err)
		}
		if err != nil {
			// What kustomize drops, or merges wrongly, is refused as well.
			if refused == nil && !strings.Contains(err.Error(), "kustomize") {
				t.Errorf("refused: %v:\n%s", err, text)
			}
			continue
		}
		if refused != nil {
			t.Errorf("kustomize refuses: %v:\n%s", refused, text)
			continue
		}
		var got any
		if err := json.Unmarshal(content, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, kustomize reads %v:\n%s", content, want, text)
		}
		accepted++
		checkDifferences(t, text, want)
	}
	if accepted < documents/10 {
		t.Errorf("%d of %d documents were accepted: the generator tries too little", accepted, documents)
	}
}

// checkDifferences compares what kustomize reads with what sigs.k8s.io/yaml reads: where they differ, Differences says so.
func checkDifferences(t *testing.T, text string, built any) {
	t.Helper()
	root, err := yamlnode.Head([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var reported []string
	dialect.Differences(root, func(line int, format string, args ...any) {
		reported = append(reported, fmt.Sprintf("line %d: "+format, append([]any{line}, args...)...))
	})
	applied, refused := sigs(text)
	if same := refused == nil && reflect.DeepEqual(any(applied), built); !same && reported == nil {
		t.Errorf("read as %v (%v) and %v, and nothing is reported:\n%s", applied, refused, built, text)
	}
}

func TestAnEditOfValuesChangesWhatTheirReaderReads(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 2))}
	accepted := 0
	for range documents {
		text := g.text()
		edited, err := yamledit.ParseValues([]byte(text))
		before, refused := sigs(text)
		switch {
		case err != nil:
			continue // a key is there twice, or a value is none of JSON
		case refused != nil && strings.Contains(text, ".inf") || refused != nil && strings.Contains(text, ".nan") || refused != nil && strings.Contains(text, "!!int x"):
			continue
		case refused != nil:
			t.Errorf("the reader refuses: %v:\n%s", refused, text)
			continue
		}
		added := g.of("a", "b", "true", "no", "8", "new")
		values := yamledit.NewMapping()
		values.Content = append(values.Content, yamledit.NewString(added), &yamlv3.Node{Kind: yamlv3.ScalarNode, Tag: "!!int", Value: "12345"})
		yamledit.Merger{Doc: edited, Override: true}.Merge(edited.Content(), values)
		if err := edited.Flush(); err != nil {
			t.Errorf("%v:\n%s", err, text)
			continue
		}
		if before == nil {
			before = map[string]any{}
		}
		before[added] = float64(12345)
		if after, err := sigs(string(edited.Data)); err != nil || !reflect.DeepEqual(after, before) {
			t.Errorf("%s = 12345 in\n%s\nis read as %v, not %v: %v\n%s", added, text, after, before, err, edited.Data)
		}
		accepted++
	}
	if accepted < documents/10 {
		t.Errorf("%d of %d documents were accepted: the generator tries too little", accepted, documents)
	}
}

func sigs(text string) (content map[string]any, err error) {
	return content, yaml.Unmarshal([]byte(text), &content)
}

func TestValuesOfGeneratedDocuments(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 3))}
	for range documents {
		text := g.text()
		root, err := dialect.Values([]byte(text))
		want, refused := sigs(text)
		if err != nil || root == nil || refused != nil {
			continue
		}
		encoded, err := yamlnode.Encode(yamlnode.Expand(root))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := sigs(string(encoded)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, not %v: %v:\n%s", got, want, err, text)
		}
	}
}
