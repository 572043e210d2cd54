// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/catalog/filebased/split"
)

// large returns a catalog of one file, with packages of ten bundles whose metadata take 20 KB each.
func large(packages int, isJSON bool) []byte {
	line := "Operators of this kind are described at length, in Markdown: see **above**, or [here](https://example.com/docs).\\n"
	description := strings.Repeat(line, 180)
	var text strings.Builder
	for i := range packages {
		name := fmt.Sprintf("package-%d", i)
		text.WriteString(shaped(isJSON, fmt.Sprintf(`{"schema": "olm.package", "name": %q, "defaultChannel": "a"}`, name)))
		var entries []string
		for j := range 10 {
			entries = append(entries, fmt.Sprintf(`{"name": "%s.v1.%d.0", "replaces": "%s.v1.%d.0"}`, name, j, name, j-1))
		}
		text.WriteString(shaped(isJSON, fmt.Sprintf(`{"schema": "olm.channel", "package": %q, "name": "a", "entries": [%s]}`, name, strings.Join(entries, ", "))))
		for j := range 10 {
			text.WriteString(shaped(isJSON, fmt.Sprintf(`{"schema": "olm.bundle", "package": %q, "name": "%s.v1.%d.0", "image": "x", "properties": [`+
				`{"type": "olm.package", "value": {"packageName": %q, "version": "1.%d.0"}}, {"type": "olm.csv.metadata", "value": {"description": "%s"}}]}`,
				name, name, j, name, j, description)))
		}
	}
	return []byte(text.String())
}

func shaped(isJSON bool, document string) string {
	if isJSON {
		return document + "\n"
	}
	return "---\n" + document + "\n"
}

// most calls do and returns by how much the heap grew meanwhile, with what had not been collected yet.
func most(do func()) int64 {
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	runtime.GC()
	before := heap()
	highest, done := before, make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return max(highest, heap()) - before
		case <-ticker.C:
			highest = max(highest, heap())
		}
	}
}

// A catalog takes at most five times its size while it is loaded, with what has not been collected yet.
func TestCostOfACatalog(t *testing.T) {
	for _, isJSON := range []bool{false, true} {
		t.Run(fmt.Sprintf("JSON %t", isJSON), func(t *testing.T) {
			data := large(120, isJSON)
			var loaded *Catalog
			var err error
			took := most(func() { loaded, err = Load(t.Context(), fstest.MapFS{"c.yaml": {Data: data}}) })
			if err != nil {
				t.Fatal(err)
			}
			size := int64(len(data))
			t.Logf("%d MB: %.1f times its size", size>>20, float64(took)/float64(size))
			if took > 5*size {
				t.Errorf("loading %d bytes takes %d", size, took)
			}
			runtime.KeepAlive(loaded)
		})
	}
}

// What is hostile is refused before it takes much.
func TestCostOfHostileDocuments(t *testing.T) {
	const head = "schema: x\na: "
	for _, test := range []struct{ name, text, want string }{
		{"values in brackets", head + "[" + strings.Repeat("[],", 2<<20) + "]\n", "values"},
		{"dashes", head + "\n" + strings.Repeat("- - - -\n", 1<<20-10), "values"},
		{"few values", head + strings.Repeat("a", jsontext.MaxDocument), "bytes"},
		{"depth", head + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n", "deeper"},
		{"depth in JSON", `{"schema":"x","a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}\n", "deeper"},
		{"values in JSON", `{"schema":"x","a":[` + strings.Repeat("{},", 1<<20) + "{}]}\n", "values"},
		{"keys in JSON", `{"schema":"x"` + strings.Repeat(`,"a":1`, 600_000) + "}\n", "values"},
		{"a text that aliases repeat", head + "[&a " + strings.Repeat("x", 1<<20) + strings.Repeat(",*a", 1000) + "]\n", "aliases"},
		{"lists that aliases repeat", head + "\n" + laughs() + "\n", "anchor|aliases|values|excessive"},
		{"a cycle of aliases", head + "&a [*a]\n", "anchor"},
		{"entries", strings.Repeat(`{"schema":"olm.channel","package":"p","name":"c","entries":[`+strings.Repeat("{},", 400_000)+"{}]}\n", 3), "entries"},
		{"keys that differ in the case of their letters", `{"schema":"x"` + spellings(1<<17) + "}\n", "case"},
		{"problems", strings.Repeat(`{"schema":"olm.bundle","package":"p","properties":[`+strings.Repeat("5,", 200)+"5]}\n", 20_000), "mapping"},
		{"a version", "schema: olm.bundle\npackage: p\nproperties:\n- {type: olm.package, value: {packageName: p, version: 1.0.0-" + strings.Repeat("a.", 1<<20) + "a}}\n", "longer"},
		{"a skipRange", "schema: olm.package\nname: p\ndefaultChannel: c\n---\nschema: olm.channel\npackage: p\nname: c\nentries:\n- {name: p.v1, skipRange: '" +
			strings.Repeat("<1.0.0 || ", 1<<18) + "<1.0.0'}\n", "longer"},
		{"documents", strings.Repeat("a: b\n---\n", split.MaxDocuments+10), "documents"},
		{"a manifest", "schema: olm.bundle\npackage: p\nproperties:\n- {type: olm.bundle.object, value: {data: " +
			base64.StdEncoding.EncodeToString([]byte(strings.Repeat("- - - -\n", 1<<19))) + "}}\n", "values"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			const bound = 1 << 30
			fsys := fstest.MapFS{"c.yaml": {Data: []byte(test.text)}}
			if took := most(func() { _, err = Load(t.Context(), fsys) }); took > bound {
				t.Errorf("takes %d MB", took>>20)
			} else {
				t.Logf("%d MB for %d KB", took>>20, len(test.text)>>10)
			}
			if err == nil || !containsAny(err.Error(), strings.Split(test.want, "|")) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// spellings returns keys that are the same but for the case of their letters.
func spellings(n int) string {
	var text strings.Builder
	for i := range n {
		key := []byte("abcdefghijklmnopqrstuvwxyz")
		for bit := range key {
			if i>>bit&1 == 1 {
				key[bit] -= 'a' - 'A'
			}
		}
		fmt.Fprintf(&text, ",%q:1", key)
	}
	return text.String()
}

// laughs returns lists of which each has the one before ten times.
func laughs() string {
	var text strings.Builder
	text.WriteString("- &a0 [x]\n")
	for i := range 12 {
		fmt.Fprintf(&text, "- &a%d [%s]\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return text.String()
}

// Pruning ends soon, whatever the graph is.
func TestCostOfPruning(t *testing.T) {
	const n = 310
	var all, chain, pairs []string
	for i := range n {
		var others []string
		for j := range n {
			if j != i {
				others = append(others, fmt.Sprintf("%d.0.0", j))
			}
		}
		all = append(all, fmt.Sprintf("%d.0.0!%s", i, strings.Join(others, ",")))
	}
	for i := range maxEntries - 1 {
		chain = append(chain, fmt.Sprintf("%d.0.0>%d.0.0", i+1, i))
		pairs = append(pairs, fmt.Sprintf("%d.0.0>%d.0.0", i+1, i^1+1))
	}
	skipAll := func(entries []string) string {
		var skipped []string
		for i := range len(entries) + 1 {
			skipped = append(skipped, fmt.Sprintf("%d.0.0", i))
		}
		return strings.Join(entries, " ") + " 9999.0.0!" + strings.Join(skipped, ",")
	}
	for _, test := range []struct {
		name, channel string
		keep          func(i uint64) bool
	}{
		{"every entry skips all others", skipAll(all), func(i uint64) bool { return i < n }},
		{"every second one of a chain", strings.Join(chain, " "), func(i uint64) bool { return i%2 == 0 }},
		{"the ends of a chain", strings.Join(chain, " "), func(i uint64) bool { return i == 1 || i == maxEntries-1 }},
		{"pairs that replace each other", skipAll(pairs[:maxEntries-2]), func(i uint64) bool { return i < maxEntries }},
	} {
		t.Run(test.name, func(t *testing.T) {
			of := named(t, graphs(t, "a: "+test.channel), "p")
			started := time.Now()
			_, decisions, err := of.Prune(Keep{Bundle: func(_ string, bundle *Bundle) bool {
				return test.keep(bundle.Version.semver.Major)
			}})
			if took := time.Since(started); err != nil || took > time.Minute {
				t.Errorf("%v after %s", err, took)
			} else {
				t.Logf("%s, %d decisions", took, len(decisions))
			}
		})
	}
}
