// SPDX-License-Identifier: Apache-2.0

package dialect_test

import (
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/winnow-dev/winnow/test/yamltest"
)

const (
	// seed makes the documents the same in each run; documents bounds their number.
	seed      = 49
	documents = 3000
)

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
	g := yamltest.New(seed, 1)
	accepted := 0
	for range documents {
		text := "kind: X\napiVersion: v1\nmetadata: {name: x}\nspec:\n  " + strings.Join(g.Mapping(), "\n  ") + "\n" + g.Of("", "...\nb: 2\n")
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
	g := yamltest.New(seed, 2)
	accepted := 0
	for range documents {
		text := g.Text()
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
		added := g.Of("a", "b", "true", "no", "8", "new")
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
	g := yamltest.New(seed, 3)
	for range documents {
		text := g.Text()
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
