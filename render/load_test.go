package render_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// pack returns an archive of files, given as path and content.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	content := tree.New()
	for path, text := range files {
		if err := content.Add(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	if err := archive.Write(&packed, content); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// peak calls do and returns by how much the memory in use grew meanwhile, as often as it can be seen.
func peak(do func()) int64 {
	var stats runtime.MemStats
	heap := func() int64 {
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := heap()
	most, done := before, make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	for {
		select {
		case <-done:
			return most - before
		default:
			most = max(most, heap())
		}
	}
}

// TestCostOfLoading holds the measure, by which loads share memory, to be true.
func TestCostOfLoading(t *testing.T) {
	const head = "apiVersion: a.b/v1\nkind: ApplicationDefinition\nmetadata: {name: x%d}\nspec: {}\n"
	for _, test := range []struct {
		name           string
		files          int
		more, metadata string
		others         map[string]string
	}{
		{"one small application", 1, "", "", nil},
		{"many small applications", 2000, "", "tier: gold\nlabels: {a: b}\n", nil},
		{"documents of many nodes", 8, "a:\n" + strings.Repeat("- - - - - - - - - -\n", 50_000), "", nil},
		{"documents of a long text", 20, "a: " + strings.Repeat("x", 1_000_000), "", nil},
		{"metadata of many nodes", 100, "", "a: [" + strings.Repeat("{k: 1},", 2000) + "]\n", nil},
		{"files that no catalog needs", 1, "", "", map[string]string{"a.png": strings.Repeat("x", 8<<20), "b.png": strings.Repeat("x", 8<<20)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{}
			for path, content := range test.others {
				files[path] = content
			}
			for i := range test.files {
				files[fmt.Sprintf("applications/%d/application.yaml", i)] = fmt.Sprintf(head, i) + test.more
				if test.metadata != "" {
					files[fmt.Sprintf("applications/%d/metadata.yaml", i)] = test.metadata
				}
			}
			packed := pack(t, files)
			measured, err := render.MeasureArchive(t.Context(), "catalog", bytes.NewReader(packed), "")
			if err != nil {
				t.Fatal(err)
			}
			took := peak(func() { _, err = render.LoadArchive(t.Context(), "catalog", bytes.NewReader(packed), "") })
			const slack = 64 << 20 // what becomes garbage while the memory is looked at counts as well
			if err != nil || took > measured+slack {
				t.Errorf("LoadArchive() = %v with %d bytes of memory, measured %d", err, took, measured)
			}
		})
	}
}
