// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/sandbox"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// The process that a sandbox starts is this test binary.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, sandbox.Verb) {
		if err := sandbox.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// limits of a test leave time for a machine that is busy.
func limits() sandbox.Limits {
	return sandbox.Limits{Time: time.Minute, Memory: 1 << 30, Output: 8 << 20}
}

// chart packs the files of a chart named web, whose Chart.yaml is there unless the files have one.
func chart(t testing.TB, files map[string]string) []byte {
	t.Helper()
	all := tree.New()
	add := func(name, content string) {
		if err := all.Add("web/"+name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := files["Chart.yaml"]; !ok {
		add("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	}
	for name, content := range files {
		add(name, content)
	}
	var packed bytes.Buffer
	if err := archive.Write(&packed, all); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func render(t testing.TB, within sandbox.Limits, packed []byte) (rendering.Answer, error) {
	t.Helper()
	s, err := sandbox.New(within)
	if err != nil {
		t.Fatal(err)
	}
	return s.Render(t.Context(), rendering.Request{
		Chart: packed, Values: [][]byte{[]byte("unread: 1")}, ReleaseName: "web", Namespace: "default", FindUnread: true,
	})
}

func TestRender(t *testing.T) {
	answer, err := render(t, limits(), chart(t, map[string]string{
		"values.yaml":         "tag: v1\n",
		"templates/NOTES.txt": "thank you",
		"templates/a.yaml":    "kind: Secret\nmetadata: {name: \"{{ .Release.Name }}\"}\nstringData: {a: {{ .Values.tag }}, b: \"{{ randAlphaNum 9 }}\"}\n",
		"templates/b.yaml":    "kind: Job\nmetadata: {annotations: {helm.sh/hook: pre-install}}\n",
		"crds/c.yaml":         "kind: CustomResourceDefinition\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Name != "web" {
		t.Errorf("the chart is %q", answer.Name)
	}
	if got := answer.Renders[0].Unread; !slices.Equal(got, []unread.Key{{Name: "unread"}}) {
		t.Errorf("the keys that it does not read are %v", got)
	}
	var got strings.Builder
	for _, m := range answer.Renders[0].Manifests {
		fmt.Fprintf(&got, "%s generated=%q\n", m.Path, m.Generated)
	}
	const want = "web/crds/c.yaml generated=[]\n" +
		"web/templates/a.yaml generated=[\".stringData.b\"]\n" +
		"web/templates/b.yaml generated=[]\n"
	if got.String() != want {
		t.Errorf("the manifests are\n%swant\n%s", got.String(), want)
	}
}

// A template sees no environment, no file outside of the chart, no cluster and no names of the network.
func TestAChartSeesNothingButItself(t *testing.T) {
	t.Setenv("SECRET", "secret")
	for name, template := range map[string]string{
		"a cluster":       `{{ lookup "v1" "Secret" "" "" | toJson }}`,
		"a name":          `{{ getHostByName "localhost" | toJson }}`,
		"a file":          `{{ .Files.Get "/etc/passwd" }}{{ .Files.Get "../../../../etc/passwd" }}{{ .Files.Get "Chart.yaml" }}`,
		"files by a glob": `{{ range $path, $content := .Files.Glob "/etc/*" }}{{ $path }}{{ end }}`,
	} {
		answer, err := render(t, limits(), chart(t, map[string]string{"templates/a.yaml": "a: '" + template + "'"}))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Trim(answer.Renders[0].Manifests[0].Text, "a: '{}\""); got != "" {
			t.Errorf("%s: it sees %s", name, got)
		}
	}
	answer, err := render(t, limits(), chart(t, map[string]string{"templates/a.yaml": `a: {{ env "SECRET" }}`}))
	if err != nil || !strings.Contains(answer.Refused+answer.Renders[0].Refused, `function "env" not defined`) {
		t.Errorf("the environment: %+v, %v", answer, err)
	}
}

// Helm itself would read the file and send the request.
func TestASchemaReadsNothing(t *testing.T) {
	requests := make(chan string, 9)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.URL.Path }))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte("false"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{server.URL + "/schema.json", "file://" + filepath.ToSlash(file), "urn:a:b"} {
		answer, err := render(t, limits(), chart(t, map[string]string{"values.schema.json": `{"$ref": "` + address + `"}`, "templates/a.yaml": "a: b"}))
		if err != nil {
			t.Fatal(err)
		}
		got := answer.Renders[0]
		if want := "values.schema.json of web refers to " + address + ", which is not read"; got.Refused != "" || !slices.Equal(got.Notes, []string{want}) {
			t.Errorf("%s: refused is %q, notes are %q", address, got.Refused, got.Notes)
		}
	}
	if len(requests) > 0 {
		t.Errorf("requested is %s", <-requests)
	}
}

func TestTheContextEndsTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := sandbox.New(limits())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Render(ctx, rendering.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Render() = %v", err)
	}
}
