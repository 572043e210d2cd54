// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/fetching"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/test/stack"
)

// kubeVersion is that of the tests: in a test, Helm's own default is another one than in a program.
const kubeVersion = "v1.36.0"

// maxCharts bounds the charts of a directory that make test renders.
const maxCharts = 10

// used is a chart at a place with the file of its values, empty for none.
type used struct {
	place, values string
	isUpgrade     bool
	isHelm3       bool
}

// A chart renders to the bytes that helm template prints, but for what is generated, and fails where that fails.
func TestChartsRenderAsHelmDoes(t *testing.T) {
	helms := builtHelms(t)
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	uses := []used{{place: "testdata/chart"}, {place: "testdata/chart", values: "testdata/values.yaml"}, {place: "testdata/chart", isUpgrade: true}}
	for _, pattern := range []string{filepath.Join(root, "examples/plain-flux/charts/*/*"), filepath.Join(realData(root), "charts/*/*.tgz")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if !isSweep() && len(found) > maxCharts {
			t.Logf("%d of %d charts; make sweep tries all", maxCharts, len(found))
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
			found = found[:maxCharts]
		}
		for _, place := range found {
			uses = append(uses, used{place: place})
			if strings.HasPrefix(place, filepath.Join(root, "examples")) {
				uses = append(uses, used{place: place, isUpgrade: true})
			}
		}
	}
	for _, use := range slices.Clone(uses) {
		use.isHelm3 = true
		uses = append(uses, use)
	}
	same, refused, generated := map[bool]int{}, map[bool]int{}, map[bool]int{}
	for _, use := range uses {
		t.Run(filepath.Base(filepath.Dir(use.place))+"/"+filepath.Base(use.place), func(t *testing.T) {
			want, problem := helmTemplate(t, helms[use.isHelm3], use)
			got := renderChart(t, use)
			switch {
			case problem != nil && got.Refused != "" && !strings.HasPrefix(use.place, "testdata/"):
				refused[use.isHelm3]++
				t.Logf("both refuse it: %s", got.Refused)
				return
			case problem != nil || got.Refused != "":
				t.Fatalf("Helm: %v\nWinnow: %s", problem, got.Refused)
			case len(want) != len(got.Manifests):
				t.Fatalf("Helm renders %d manifests, Winnow %d", len(want), len(got.Manifests))
			}
			generated[use.isHelm3] += compareBytes(t, got.Manifests, want)
			same[use.isHelm3]++
		})
	}
	for isHelm3, name := range map[bool]string{false: "Helm 4", true: "Helm 3"} {
		t.Logf("%s, of %d charts: %d render to the same bytes, but for %d manifests that are generated; both refuse %d",
			name, len(uses)/2, same[isHelm3], generated[isHelm3], refused[isHelm3])
	}
}

// builtHelms returns the paths of Helm 3 (true) and Helm 4. Without them it skips the test.
func builtHelms(t *testing.T) map[bool]string {
	t.Helper()
	helm3, err3 := stack.BuiltHelm3(t.Context())
	helm4, err4 := stack.BuiltHelm(t.Context())
	if err := errors.Join(err3, err4); err != nil {
		t.Fatal(err)
	}
	if helm3 == "" || helm4 == "" {
		t.Skip("skipped: Helm is not built; go run ./test/stack/cmd/stack -helm-cli builds it")
	}
	return map[bool]string{true: helm3, false: helm4}
}

// compareBytes compares manifests but those that are generated, whose number it returns.
func compareBytes(t *testing.T, got []rendering.Manifest, want []string) (generated int) {
	t.Helper()
	for i, m := range got {
		if len(m.Generated) > 0 {
			generated++
			continue
		}
		if text := m.Path + "\n" + m.Text; strings.TrimSpace(text) != strings.TrimSpace(want[i]) {
			t.Errorf("manifest %d is\n%.2000s\nwant\n%.2000s", i, text, want[i])
		}
	}
	return generated
}

// realData returns the directory with real definitions and charts, which may be missing.
func realData(root string) string {
	if dir := os.Getenv("WINNOW_TEST_DATA"); dir != "" {
		return dir
	}
	return filepath.Join(root, "../shared/data")
}

// helmTemplate returns the manifests that helm template prints for a chart, each behind its path.
func helmTemplate(t *testing.T, helm string, use used) ([]string, error) {
	t.Helper()
	args := []string{"template", "web", use.place, "--namespace", "apps", "--include-crds", "--kube-version", kubeVersion}
	if use.values != "" {
		args = append(args, "--values", use.values)
	}
	if use.isUpgrade {
		args = append(args, "--is-upgrade")
	}
	cmd := exec.CommandContext(t.Context(), helm, args...)
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "HELM_CACHE_HOME=" + home, "HELM_CONFIG_HOME=" + home, "HELM_DATA_HOME=" + home}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New(stderr.String())
	}
	const separator = "---\n# Source: "
	text, isFirst := strings.CutPrefix(string(out), separator)
	if !isFirst {
		return nil, nil
	}
	return strings.Split(text, "\n"+separator), nil
}

// renderChart renders a chart, which is an archive or a directory.
func renderChart(t *testing.T, use used) rendering.Render {
	t.Helper()
	packed, err := os.ReadFile(use.place)
	if info, statErr := os.Stat(use.place); statErr == nil && info.IsDir() {
		packed, err = fetching.Pack(t.Context(), "chart", os.DirFS(use.place))
	}
	if err != nil {
		t.Fatal(err)
	}
	var given []byte
	if use.values != "" {
		given, err = os.ReadFile(use.values)
	}
	if err != nil {
		t.Fatal(err)
	}
	answer, err := rendering.Do(t.Context(), rendering.Request{
		Chart: packed, ReleaseName: "web", Namespace: "apps", KubeVersion: kubeVersion, Values: [][]byte{given}, IsUpgrade: use.isUpgrade, IsHelm3: use.isHelm3,
	})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Refused != "" {
		return rendering.Render{Refused: answer.Refused}
	}
	return answer.Renders[0]
}
