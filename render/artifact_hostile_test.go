// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render"
)

// allocated returns the bytes that do allocates, whether or not they are collected meanwhile.
func allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// An artifact in a registry may be anybody's. One of 100 KB must not take all memory.
func TestCostOfHostileArtifacts(t *testing.T) {
	const large = 20 << 20
	lists := func(size int) string { return "a: [" + strings.Repeat("[],", size/3) + "]\n" }
	patches := func(n int, target string) string {
		return "resources: []\npatches:\n" + strings.Repeat("- {target: {name: '"+target+"'}, patch: 'a: {b: c}'}\n", n)
	}
	for _, test := range []struct {
		name  string
		files []string
		want  string
	}{
		{"a large kustomization.yaml", []string{"kustomization.yaml", lists(large)}, "reading the artifact: kustomization.yaml: is larger than 16777216 bytes"},
		{"one of many values", []string{"kustomization.yaml", lists(15 << 20)}, "reading the artifact: kustomization.yaml: may have more than 1448576 values"},
		{"one of many patches", []string{"kustomization.yaml", patches(501, "x")}, "building the artifact: 501 patches are more than 500: join patches"},
		{
			"a patch of a large target", []string{"kustomization.yaml", patches(1, strings.Repeat("x{1000}", 3000))},
			"a patch of the artifact cannot be read: the target cannot be used: the regular expression is longer than 1000 bytes",
		},
		{"a large object", []string{"kustomization.yaml", "{}", "instances/a.yaml", lists(large)}, "reading the artifact: instances/a.yaml: is larger than 16777216 bytes"},
		{"one of many values", []string{"kustomization.yaml", "{}", "instances/a.yaml", lists(15 << 20)}, "reading the artifact: instances/a.yaml: may have more than 1448576 values"},
		{
			"a large definition", []string{"kustomization.yaml", "{}", "applicationdefinitions/a.yaml", lists(15 << 20)},
			"reading the artifact: invalid catalog: applications/a/application.yaml: is larger than 1048576 bytes",
		},
		{"large functions", []string{"kustomization.yaml", "{}", "functions/catalog.yaml", lists(15 << 20)}, "reading the artifact: invalid catalog: functions/catalog.yaml: is larger than 1048576 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := packed(t, test.files...).Bytes()
			var err error
			took := allocated(func() { _, err = render.ReadArtifact(t.Context(), bytes.NewReader(data)) })
			if got := fmt.Sprint(err); got != test.want {
				t.Errorf("ReadArtifact() = %.300s\nwant %s", got, test.want)
			}
			const most = 300 << 20
			if took > most {
				t.Errorf("%d KB of archive allocate %d MB", len(data)>>10, took>>20)
			}
			t.Logf("%d KB, %d MB", len(data)>>10, took>>20)
		})
	}
}

// What is within the bounds takes what MeasureArtifact says.
func TestCostOfAKustomizationOfManyValues(t *testing.T) {
	data := packed(t, "kustomization.yaml", "a: ["+strings.Repeat("[],", 250_000)+"]\n").Bytes()
	measured, err := render.MeasureArtifact(t.Context(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	took := allocated(func() { _, err = render.ReadArtifact(t.Context(), bytes.NewReader(data)) })
	if err != nil || took > 3*measured { // of which the most is garbage soon
		t.Errorf("ReadArtifact() = %v, and allocates %d MB, measured %d MB", err, took>>20, measured>>20)
	}
	t.Logf("%d MB, measured %d MB", took>>20, measured>>20)
}

// Whatever an artifact has, reading it ends, twice with the same result, and fetches nothing.
func FuzzReadArtifact(f *testing.F) {
	for _, kustomization := range []string{
		"resources: [applicationdefinitions/argocd.yaml]\n", "patches: [{patch: '[{op: remove, path: /spec/versions/0}]', target: {name: argocd}}]\n",
		"patches: [{patch: '{spec: {versions: null}}', target: {kind: App.*}}]\n", "patches: [{path: x}]\n", "a: &a [*a]\n", "",
	} {
		f.Add([]byte(kustomization), []byte(artifactDefinition), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"))
		f.Add([]byte(kustomization), []byte("a: ["), []byte("- a"))
	}
	f.Fuzz(func(t *testing.T, kustomization, definition, object []byte) {
		data := packed(t, "kustomization.yaml", string(kustomization), "applicationdefinitions/argocd.yaml", string(definition), "instances/x.yaml", string(object)).Bytes()
		first, errFirst := render.ReadArtifact(t.Context(), bytes.NewReader(data))
		second, errSecond := render.ReadArtifact(t.Context(), bytes.NewReader(data))
		if fmt.Sprint(errFirst) != fmt.Sprint(errSecond) || !reflect.DeepEqual(first, second) {
			t.Errorf("ReadArtifact() = %v, %v, then %v, %v", first, errFirst, second, errSecond)
		}
	})
}
