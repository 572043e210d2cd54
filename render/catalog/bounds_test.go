// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/catalog"
)

// aliases returns a mapping that expands to about as many nodes: lists of small maps.
func aliases(nodes int) string {
	return "a: &a [" + strings.Repeat("{k: 1},", 33) + "]\nb: [" + strings.Repeat("*a,", nodes/100) + "]\n"
}

func TestLoadRefusesAliasesThatStayInMemory(t *testing.T) {
	const metadata, list = "applications/good/metadata.yaml", "catalogs/l/metadata.yaml"
	for _, test := range []struct {
		name, path, content string
		want                []string
	}{
		{"a metadata.yaml may expand a little", metadata, aliases(9000), nil},
		{"a metadata.yaml may not expand a lot", metadata, aliases(11000), []string{metadata + ":2: has aliases that expand to more than 10000 nodes"}},
		{"labels may not either", metadata, "labels: {a: &a [" + strings.Repeat("{k: 1},", 33) + "], b: [" + strings.Repeat("*a,", 110) + "]}\n",
			[]string{metadata + ":1: has aliases that expand to more than 10000 nodes"}},
		{"nor may a named list", list, "applications: [good]\n" + aliases(11000), []string{list + ":3: has aliases that expand to more than 10000 nodes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, violations(t, with(files{test.path: test.content}).fs()), test.want)
		})
	}
}

// times returns files of n applications; the texts have the number for %d.
func times(n int, definition, metadata string) files {
	all := files{}
	for i := range n {
		all[fmt.Sprintf("%d/application.yaml", i)] = strings.ReplaceAll(definition, "%d", fmt.Sprint(i))
		if metadata != "" {
			all[fmt.Sprintf("%d/metadata.yaml", i)] = metadata
		}
	}
	return all
}

func TestCostOfWhatAllFilesTogetherKeep(t *testing.T) {
	aliased := "has aliases that expand to %d nodes in all files together, more than 200000: write out less with aliases"
	kept := "takes about %d bytes of memory for metadata, named lists, versions and labels, more than 134217728: remove what no selection needs"
	plain := "a: [" + strings.Repeat("{k: 1},", 5000) + "]\n"
	for _, test := range []struct {
		name  string
		files files
		want  []string
	}{
		{"aliases of many metadata.yaml", times(23, definition("x%d"), aliases(9000)), []string{".: " + fmt.Sprintf(aliased, 23*90*100)}},
		{"aliases of many application.yaml", times(3, definition("x%d")+aliases(90000), ""), []string{".: " + fmt.Sprintf(aliased, 3*900*100)}},
		{"metadata that is written out", times(70, definition("x%d"), plain), []string{".: " + fmt.Sprintf(kept, 70*(128*15003+10001+48+len("method")))}},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, violations(t, test.files.fs()), test.want)
		})
	}
}

// TestCostOfACatalog holds the account of caches to be true.
func TestCostOfACatalog(t *testing.T) {
	repeat := func(n int, format string) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, format, i)
		}
		return text.String()
	}
	for _, test := range []struct {
		name, definition, metadata string
	}{
		{"documents alone", definition("x%d") + fill(100_000), ""},
		{"maps with a key each", definition("x%d"), "a: [" + strings.Repeat("{k: 1},", 5000) + "]\n"},
		{"aliases of maps with a key each", definition("x%d"), aliases(9000)},
		{"maps without keys", definition("x%d"), "a: [" + strings.Repeat("{},", 10000) + "]\n"},
		{"maps with nine keys", definition("x%d"), "a: [" + strings.Repeat("{a: 1,b: 1,c: 1,d: 1,e: 1,f: 1,g: 1,h: 1,i: 1},", 1000) + "]\n"},
		{"maps with fifteen keys", definition("x%d"), "a: [" + strings.Repeat("{"+repeat(15, "k%d: x,")+"},", 500) + "]\n"},
		{"a map with many keys", definition("x%d"), "a: {" + repeat(4000, "k%d: x,") + "}\n"},
		{"lists of lists", definition("x%d"), "a: [" + strings.Repeat("[],", 10000) + "]\n"},
		{"labels", definition("x%d"), "labels: {" + repeat(4000, "k%d: x,") + "}\n"},
		{"annotations", definition("x%d"), "annotations: {" + repeat(4000, "k%d: x,") + "}\n"},
		{"versions", definition("x%d") + "  versions:\n" + repeat(900, "  - version: v%d\n"), ""},
		{"fields of the spec", definition("x%d") + repeat(5000, "  k%d: x\n"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys := times(20, test.definition, test.metadata).fs()
			before := heap()
			loaded, err := catalog.Load(context.Background(), fsys)
			if err != nil {
				t.Fatal(err)
			}
			const slack = 64 << 10
			took := heap() - before
			if size := loaded.Size(); took > size*9/8+slack { // the allocator rounds up
				t.Errorf("takes %d bytes, but counts %d", took, size)
			}
			runtime.KeepAlive(fsys)
		})
	}
}

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what a pool holds takes two
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestACatalogHasAtMostSixteenKinds(t *testing.T) {
	groups := func(n int) files {
		all := files{}
		for i := range n {
			all[fmt.Sprintf("applications/%02d/application.yaml", i)] = strings.Replace(definition(fmt.Sprintf("x%d", i)), "apps.kubermatic.k8c.io", fmt.Sprintf("g%d.example", i%1000), 1)
		}
		return all
	}
	const more = `: has the API group "g%d.example", which makes %d kinds of definitions: a catalog has at most 16`
	for _, test := range []struct {
		name  string
		files files
		want  []string
	}{
		{"sixteen", groups(16), nil},
		{"more", groups(18), []string{"applications/16/application.yaml" + fmt.Sprintf(more, 16, 17), "applications/17/application.yaml" + fmt.Sprintf(more, 17, 18)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, violations(t, test.files.fs()), test.want)
		})
	}
	if got := len(violations(t, groups(1000).fs())); got != 984 {
		t.Errorf("a thousand kinds are %d violations, want 984", got)
	}
}
