// SPDX-License-Identifier: Apache-2.0

package rendering_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
)

func TestUpgrades(t *testing.T) {
	const (
		rules   = " (by the rules of Helm 4, which Flux has)"
		release = "a: install {{ .Release.IsInstall }}, upgrade {{ .Release.IsUpgrade }}, revision {{ .Release.Revision }}"
		needs   = `{{ if .Release.IsUpgrade }}{{ if not (lookup "v1" "Secret" "apps" "a") }}{{ fail "a password is needed" }}{{ end }}{{ end }}`
	)
	for _, test := range []struct {
		name, template string
		isUpgrade      bool
		want           string
	}{
		{"an installation", release, false, "a: install true, upgrade false, revision 1"},
		{"an upgrade", release, true, "a: install false, upgrade true, revision 2"},
		{"an upgrade that a template refuses", `{{ if .Release.IsUpgrade }}{{ fail "no" }}{{ end }}`, true, "execution error at (web/templates/a.yaml:1:30): no" + rules},
		{"an upgrade that reads the cluster", release + needs, true,
			"a: install true, upgrade false, revision 1; it does not render as an upgrade without the objects of a cluster, and was rendered as an installation: " +
				"execution error at (web/templates/a.yaml:1:179): a password is needed"},
		{"one that is no installation either", needs + `{{ fail "no" }}`, true, "execution error at (web/templates/a.yaml:1:76): a password is needed" + rules},
		{"an installation that reads the cluster", release + needs, false, "a: install true, upgrade false, revision 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			packed, err := fetching.Pack(t.Context(), "web", fstest.MapFS{
				"Chart.yaml": {Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")}, "templates/a.yaml": {Data: []byte(test.template)},
			})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := rendering.Do(t.Context(), rendering.Request{
				Chart: packed, Values: [][]byte{nil}, ReleaseName: "web", Namespace: "apps", KubeVersion: "v1.36.0", IsUpgrade: test.isUpgrade,
			})
			if err != nil || len(answer.Renders) != 1 {
				t.Fatalf("Do() = %+v, %v", answer, err)
			}
			one := answer.Renders[0]
			got := append([]string{}, one.Notes...)
			for _, m := range one.Manifests {
				got = append([]string{strings.TrimSpace(m.Text)}, got...)
			}
			if one.Refused != "" {
				got = append(got, one.Refused)
			}
			if strings.Join(got, "; ") != test.want {
				t.Errorf("Do() renders %q\nwant %q", strings.Join(got, "; "), test.want)
			}
		})
	}
}
