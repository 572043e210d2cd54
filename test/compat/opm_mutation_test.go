// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"
)

// Mutations of each sample that are tried, unless WINNOW_MUTATIONS has another number, from WINNOW_MUTATION_SEED on.
const (
	triedMutations = 5
	sweepMutations = 60
)

// mutated is a catalog with a change in one file.
type mutated struct {
	fstest.MapFS
	file, mutation string
}

func TestOpmAndLoadAgreeOnMutations(t *testing.T) {
	o := newOpm(t)
	number := triedMutations
	if isSweep() {
		number = sweepMutations
	}
	number, seed := fromEnvironment(t, "WINNOW_MUTATIONS", number), fromEnvironment(t, "WINNOW_MUTATION_SEED", 1)
	all := samples(t)
	valid, invalid := 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for i := range number {
			m := mutator{Rand: rand.New(rand.NewPCG(uint64(seed+i), uint64(len(name))))}
			if o.compare(t, name+" "+strconv.Itoa(seed+i), m.mutate(t, all[name])) {
				valid++
			} else {
				invalid++
			}
		}
	}
	t.Logf("%d mutations are valid, %d are not", valid, invalid)
	if valid == 0 || invalid == 0 {
		t.Error("the mutations do not test both")
	}
}

func fromEnvironment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

type mutator struct{ *rand.Rand }

func pick[T any](m mutator, from []T) T { return from[m.IntN(len(from))] }

// mutate changes a document of a catalog, as text or as values.
func (m mutator) mutate(t *testing.T, catalog fstest.MapFS) fs.FS {
	t.Helper()
	file := pick(m, slices.Sorted(maps.Keys(catalog)))
	data := catalog[file].Data
	var mutation string
	if m.IntN(2) == 0 {
		data, mutation = m.text(data)
	} else {
		data, mutation = m.values(t, file, data)
	}
	copied := maps.Clone(catalog)
	copied[file] = &fstest.MapFile{Data: data}
	return mutated{MapFS: copied, file: file, mutation: mutation}
}

// text changes lines and bytes. Long documents are as likely as short ones.
func (m mutator) text(data []byte) ([]byte, string) {
	parts := bytes.SplitAfter(data, []byte("\n---\n"))
	i := m.IntN(len(parts))
	lines := bytes.SplitAfter(bytes.Clone(parts[i]), []byte("\n"))
	at := m.IntN(len(lines))
	tokens := []string{"---", "...", "--- x", "\t", ": ", "- ", "{", "}", "[", "]", "\"", "'", "&a ", "*a", "# ", "|", "\n", "\r\n", "\x00",
		"\xff", "<<: ", "~", "null", "on", "0x1", "1e999", ".nan", "!!binary ", "? ", "%YAML 1.1", "\ufeff", "\u2028", "name: x\n", "schema: olm.bundle\n", ","}
	var mutation string
	switch m.IntN(6) {
	case 0:
		mutation, lines[at] = "delete line", nil
	case 1:
		mutation = "repeat line"
		lines = slices.Insert(lines, at, lines[at])
	case 2:
		mutation = "swap lines"
		other := m.IntN(len(lines))
		lines[at], lines[other] = lines[other], lines[at]
	case 3, 4:
		mutation = "insert"
		column := m.IntN(len(lines[at]) + 1)
		if m.IntN(2) == 0 {
			column = 0
		}
		lines[at] = slices.Concat(lines[at][:column], []byte(pick(m, tokens)), lines[at][column:])
	case 5:
		mutation = "indent"
		lines[at] = append([]byte(strings.Repeat(" ", 1+m.IntN(3))), lines[at]...)
	}
	parts[i] = bytes.Join(lines, nil)
	return bytes.Join(parts, nil), mutation + " " + strconv.Itoa(at) + " of document " + strconv.Itoa(i)
}

// values changes a value, or a key, of a document, and writes all of them as YAML or as JSON.
func (m mutator) values(t *testing.T, file string, data []byte) ([]byte, string) {
	t.Helper()
	documents := decoded(data, strings.HasSuffix(file, ".json"))
	if len(documents) == 0 {
		return m.text(data)
	}
	i := m.IntN(len(documents))
	documents[i] = m.value(documents[i], 0)
	if m.IntN(8) == 0 {
		documents = append(documents, pick(m, documents))
	}
	var written []byte
	asJSON := m.IntN(2) == 0
	for _, document := range documents {
		one, err := json.Marshal(document)
		if err == nil && !asJSON {
			one, err = yaml.JSONToYAML(one)
			one = append([]byte("---\n"), one...)
		}
		if err != nil {
			t.Fatal(err)
		}
		written = append(append(written, one...), '\n')
	}
	return written, "value of document " + strconv.Itoa(i)
}

func decoded(data []byte, isJSON bool) (documents []any) {
	if isJSON {
		decoder := json.NewDecoder(bytes.NewReader(data))
		for {
			var document any
			if err := decoder.Decode(&document); errors.Is(err, io.EOF) || err != nil {
				return documents
			}
			documents = append(documents, document)
		}
	}
	for _, part := range bytes.Split(bytes.TrimPrefix(data, []byte("---\n")), []byte("\n---")) {
		var document any
		if err := yaml.Unmarshal(part, &document); err == nil && document != nil {
			documents = append(documents, document)
		}
	}
	return documents
}

// value changes a value, or one that it has.
func (m mutator) value(value any, depth int) any {
	if depth > 0 && m.IntN(5) == 0 {
		return m.replacement(value)
	}
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			break
		}
		key := pick(m, slices.Sorted(maps.Keys(value)))
		switch m.IntN(8) {
		case 0:
			delete(value, key)
		case 1:
			value[strings.ToUpper(key)] = value[key]
		case 2:
			value[strings.ToUpper(key)] = value[key]
			delete(value, key)
		default:
			value[key] = m.value(value[key], depth+1)
		}
		return value
	case []any:
		if len(value) == 0 {
			break
		}
		at := m.IntN(len(value))
		switch m.IntN(6) {
		case 0:
			return slices.Delete(value, at, at+1)
		case 1:
			return append(value, value[at])
		case 2:
			other := m.IntN(len(value))
			value[at], value[other] = value[other], value[at]
		default:
			value[at] = m.value(value[at], depth+1)
		}
		return value
	}
	return m.replacement(value)
}

func (m mutator) replacement(value any) any {
	if text, isText := value.(string); isText && len(text) > 0 && m.IntN(2) == 0 {
		at := m.IntN(len(text))
		return text[:at] + pick(m, []string{"", "0", "x", "-", ".", "+", " ", "/", ":", "@", "A", "_", "||", ">"}) + text[at+m.IntN(2):]
	}
	return pick(m, []any{nil, "", 1, 1.5, true, []any{}, map[string]any{}, "x y", "lemon", "lemon.v1.0.0", "lemon.v1.2.0", "stable", "1.0.0", ">=1.0.0 <2.0.0",
		"olm.package", "olm.bundle", "olm.channel", "olm.csv.metadata", "olm.bundle.object", "olm.channel.x", "cXVheS5pbw==", []any{""}, map[string]any{"a": nil}})
}
