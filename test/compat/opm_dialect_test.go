// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/test/yamltest"
)

const (
	// generatedBlobs are compared in one run of opm, and refusedBlobs are refused by a run each.
	generatedBlobs = 600
	refusedBlobs   = 25
)

// blob is a document of OLM, whose keys have any case, with a value.
func blob(g *yamltest.Generator, i int) []byte {
	keys := []string{g.Of("schema", "Schema", "SCHEMA") + ": example.com/x", g.Of("name", "NAME") + fmt.Sprintf(": n%d", i), g.Of("package", "paCkage") + ": p"}
	g.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	lines := append(keys, "value:")
	for _, line := range g.Mapping() {
		lines = append(lines, "  "+strings.ReplaceAll(line, "\n", "\n  "))
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

func TestOpmReadsTheValuesOfBlobsAsJsontextDoes(t *testing.T) {
	o, g := newOpm(t), yamltest.New(49, 5)
	accepted, want, refused := fstest.MapFS{}, map[string]any{}, 0
	for i := range generatedBlobs {
		text := blob(g, i)
		read, err := jsontext.FromYAML(text)
		if err != nil {
			if refused++; refused <= refusedBlobs && !isAmbiguous(text) && o.validate(t, fstest.MapFS{"a.yaml": {Data: text}}) == "" {
				t.Errorf("opm accepts what is refused: %v:\n%s", err, text)
			}
			continue
		}
		accepted[fmt.Sprintf("n%d.yaml", i)] = &fstest.MapFile{Data: text}
		want[fmt.Sprintf("n%d", i)] = valueOf(t, read)
	}
	if len(accepted) < generatedBlobs/10 || refused < refusedBlobs {
		t.Fatalf("%d blobs are accepted and %d refused: the generator tries too little", len(accepted), refused)
	}
	found := 0
	for decoder := json.NewDecoder(bytes.NewReader(o.render(t, accepted))); decoder.More(); found++ {
		var one json.RawMessage
		if err := decoder.Decode(&one); err != nil {
			t.Fatal(err)
		}
		var meta struct{ Name string }
		if err := json.Unmarshal(one, &meta); err != nil {
			t.Fatal(err)
		}
		text := accepted[meta.Name+".yaml"].Data
		got := valueOf(t, one)
		if !isAmbiguous(text) && !reflect.DeepEqual(got, want[meta.Name]) {
			t.Errorf("opm reads %v, jsontext %v:\n%s", got, want[meta.Name], text)
		}
	}
	if found != len(accepted) {
		t.Errorf("opm has %d of %d blobs", found, len(accepted))
	}
}

// isAmbiguous reports whether a mapping has the same key twice: of keys that are one in JSON alone, such as 8 and "8", opm takes any.
func isAmbiguous(text []byte) bool {
	_, err := dialect.Values(text)
	return err != nil && strings.Contains(err.Error(), "twice")
}

func valueOf(t *testing.T, content []byte) any {
	t.Helper()
	var read struct{ Value any }
	if err := json.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	return read.Value
}

// render returns what opm renders of a catalog.
func (o opm) render(t *testing.T, catalog fstest.MapFS) []byte {
	t.Helper()
	if err := errors.Join(os.RemoveAll(o.dir), os.CopyFS(o.dir, catalog)); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), o.path, "render", o.dir)
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("opm refuses what jsontext accepts: %v: %s", err, &stderr)
	}
	return output
}
