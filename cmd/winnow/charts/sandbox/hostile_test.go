// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/sandbox"
)

// endless is a template that does not end in the life of a test.
const endless = "{{ range until 100000 }}{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}{{ end }}"

// Every chart ends in an error, or renders to what is there without it, within the limits.
func TestCostOfHostileCharts(t *testing.T) {
	short, small := limits(), limits()
	short.Time = 2 * time.Second
	small.Memory, small.Output = 512<<20, 1<<20
	for _, test := range []struct {
		name   string
		within sandbox.Limits
		packed []byte
		limit  string // that is exceeded
		want   string // part of what is refused
	}{
		{"nested ranges", short, template(t, endless), "time", ""},
		{"the same in a named template", short, template(t, `{{ define "x" }}`+endless+`{{ end }}{{ include "x" . }}`), "time", ""},
		{"the same in a template of the values", short, chart(t, map[string]string{
			"values.yaml": "x: '" + endless + "'", "templates/a.yaml": "{{ tpl .Values.x . }}",
		}), "time", ""},
		{"private keys", short, template(t, `{{ range until 1000 }}{{ genPrivateKey "rsa" }}{{ end }}`), "time", ""},
		{"an expensive hash", short, template(t, `{{ range until 1000 }}{{ htpasswd "user" "password" }}{{ end }}`), "time", ""},
		{"a long text", small, template(t, `{{ repeat 2000000000 "x" }}`), "memory", ""},
		{"a text that doubles", small, template(t, `{{ $x := "0123456789abcdef" }}{{ range until 40 }}{{ $x = print $x $x }}{{ end }}`), "memory", ""},
		{"a list that doubles", small, template(t, `{{ $x := list 1 2 3 }}{{ range until 40 }}{{ $x = concat $x $x }}{{ end }}`), "memory", ""},
		{"a long list", small, template(t, `{{ untilStep 0 2000000000 1 | len }}`), "memory", ""},
		{"a large output", small, template(t, `a: {{ repeat 2000000 "x" }}`), "output", ""},
		{"recursion by include", limits(), template(t, `{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`), "", "nested reference name: x"},
		{"recursion by template", limits(), template(t, `{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}`), "", "exceeded maximum template depth"},
		{"recursion by tpl", short, chart(t, map[string]string{
			"values.yaml": `x: "{{ tpl .Values.x . }}"`, "templates/a.yaml": "{{ tpl .Values.x . }}",
		}), "any", ""},
		{"deep values", limits(), chart(t, map[string]string{"values.yaml": "a: " + strings.Repeat("[", 20000) + strings.Repeat("]", 20000)}), "", "exceeded max depth"},
		{"a bomb of aliases", limits(), chart(t, map[string]string{"values.yaml": aliases()}), "", "excessive aliasing"},
		{"a schema that is no schema", limits(), chart(t, map[string]string{"values.schema.json": `{"$ref": "#/nowhere"}`}), "", "values.schema.json of web: "},
		{"a schema of another machine, which is not read", limits(), chart(t, map[string]string{
			"values.schema.json": `{"$ref": "http://127.0.0.1:1/x"}`, "templates/a.yaml": "a: b",
		}), "", ""},
		{"a schema of this machine, which is not read", limits(), chart(t, map[string]string{
			"values.schema.json": `{"$ref": "file:///etc/passwd"}`, "templates/a.yaml": "a: b",
		}), "", ""},
		{"a chart in itself that is missing", limits(), chart(t, map[string]string{
			"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: db, version: 1.0.0, repository: \"https://example.com\"}]",
		}), "", "its directory charts lacks db"},
		{"a symbolic link", limits(), packed(t, tar.Header{Name: "web/templates/a.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "", "symbolic link is not allowed"},
		{"a path that leads out", limits(), packed(t, tar.Header{Name: "web/../../a", Typeflag: tar.TypeReg}), "", `path has a ".." element`},
		{"a bomb of gzip", limits(), bomb(t, 200<<20), "", "over the limit of"},
		{"a bomb in a chart in the chart", limits(), chart(t, map[string]string{"charts/a.tgz": string(bomb(t, 200<<20))}), "", "charts/a.tgz: archive"},
		{"no archive", limits(), []byte("<html>"), "", "archive: malformed"},
		{"deep blocks", short, template(t, blocks(300_000)), "any", ""},
		{"deep blocks in a text", short, chart(t, map[string]string{
			"templates/a.yaml": "{{ tpl .Values.x . }}", "values.yaml": `x: "{{ .Values.x }}` + blocks(200_000) + `"`,
		}), "any", ""},
		{"deep blocks in a file that no template reads", short, chart(t, map[string]string{
			"templates/a.yaml": `a: {{ tpl "b" . }}`, "files/a": blocks(300_000),
		}), "any", ""},
		{"deep parentheses", limits(), template(t, "{{ "+strings.Repeat("(", 1_000_000)+".Values.x"+strings.Repeat(")", 1_000_000)+" }}"), "", "max expression depth exceeded"},
		{"a chain of templates", limits(), template(t, chain(500)), "", ""},
		{"a schema in itself", limits(), chart(t, map[string]string{"values.schema.json": `{"allOf": [{"$ref": "#"}, {"$ref": "#"}]}`}), "", "reference cycle"},
		{"a Secret that is no YAML, whose value is not quoted", limits(), template(t, "kind: Secret\nmetadata: {name: a}\nstringData: {p: !!int hidden}"), "", "cannot decode !!str `...` as a !!int"},
		{"a list as Chart.yaml", limits(), chart(t, map[string]string{"Chart.yaml": "[]"}), "", "cannot load Chart.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answer, err := render(t, test.within, test.packed)
			var exceeded *sandbox.LimitError
			switch {
			case errors.As(err, &exceeded):
				if exceeded.What != test.limit && test.limit != "any" {
					t.Errorf("the limit of %s is exceeded: %v", exceeded.What, err)
				}
				t.Log(err)
				return
			case test.limit == "any":
				t.Log(err)
				return
			case err != nil || test.limit != "":
				t.Fatalf("Render() = %.300v, %v", answer, err)
			}
			refused := answer.Refused
			if len(answer.Renders) > 0 {
				refused += answer.Renders[0].Refused
			}
			t.Log(refused)
			if test.want == "" && refused != "" || !strings.Contains(refused, test.want) {
				t.Errorf("refused is %.300q, want %q", refused, test.want)
			}
		})
	}
}

func template(t testing.TB, text string) []byte {
	return chart(t, map[string]string{"templates/a.yaml": text})
}

// blocks are in each other.
func blocks(depth int) string {
	return strings.Repeat("{{if 1}}", depth) + strings.Repeat("{{end}}", depth)
}

// chain is named templates, each of which includes the next one.
func chain(length int) string {
	text := fmt.Sprintf(`{{ include "0" . }}{{ define "%d" }}{{ end }}`, length)
	for i := range length {
		text += fmt.Sprintf("{{ define \"%d\" }}{{ include \"%d\" . }}{{ end }}", i, i+1)
	}
	return text
}

// aliases expands to a billion texts.
func aliases() string {
	text := "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
	for i := range 9 {
		alias := fmt.Sprintf("*a%d", i)
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Join([]string{alias, alias, alias, alias, alias, alias, alias, alias, alias}, ", "))
	}
	return text
}

// packed packs one entry.
func packed(t testing.TB, header tar.Header) []byte {
	t.Helper()
	var buffer bytes.Buffer
	compressed := gzip.NewWriter(&buffer)
	files := tar.NewWriter(compressed)
	if err := errors.Join(files.WriteHeader(&header), files.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// bomb is an archive with many bytes that are zero.
func bomb(t testing.TB, size int64) []byte {
	t.Helper()
	var buffer bytes.Buffer
	compressed := gzip.NewWriter(&buffer)
	files := tar.NewWriter(compressed)
	const each = 4 << 20
	zeros := make([]byte, each)
	for i := range size / each {
		if err := files.WriteHeader(&tar.Header{Name: fmt.Sprintf("web/%d", i), Typeflag: tar.TypeReg, Size: each, Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}
