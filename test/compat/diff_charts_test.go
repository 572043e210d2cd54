// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/test/stack"
)

// timedUpgrades is the number of upgrades that TestTimeOfDiffCharts compares.
const timedUpgrades = 100

// release is a version of a chart in an archive.
type release struct{ chart, version, place string }

// How long winnow diff --charts takes for 100 upgrades of real charts out of a repository, with an empty cache and with a full one.
func TestTimeOfDiffCharts(t *testing.T) {
	if os.Getenv("WINNOW_BENCH_CHARTS") == "" {
		t.Skip("skipped: make bench-charts runs it")
	}
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	upgrades := nextVersions(t, filepath.Join(realData(root), "charts"))
	if len(upgrades) == 0 {
		t.Skip("skipped: there are no real charts")
	}
	program := filepath.Join(t.TempDir(), "winnow")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/winnow")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	places, index := map[string]string{}, strings.Builder{}
	index.WriteString("apiVersion: v1\nentries:\n")
	from, to := t.TempDir(), t.TempDir()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			_, _ = w.Write([]byte(index.String()))
			return
		}
		http.ServeFile(w, r, places[r.URL.Path])
	}))
	defer server.Close()
	entries := map[string]string{}
	for i := range timedUpgrades {
		pair := upgrades[i%len(upgrades)]
		for _, r := range pair {
			places["/"+filepath.Base(r.place)] = r.place
			if entry := fmt.Sprintf("  - {name: %s, version: %q, urls: [%q]}\n", r.chart, r.version, filepath.Base(r.place)); !strings.Contains(entries[r.chart], entry) {
				entries[r.chart] += entry
			}
		}
		name := fmt.Sprintf("app-%03d", i)
		defineVersions(t, from, name, server.URL, pair[:1])
		defineVersions(t, to, name, server.URL, pair[:])
	}
	for chart, all := range entries {
		fmt.Fprintf(&index, "  %s:\n%s", chart, all)
	}
	cache := t.TempDir()
	for _, state := range []string{"cold", "warm"} {
		cmd := exec.CommandContext(t.Context(), program, "diff", "--from", from, "--to", to, "--charts", "--plain-http", "-o", "json")
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
		began := time.Now()
		out, err := cmd.Output()
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("%v: %.2000s", err, failed.Stderr)
		}
		usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		t.Logf("%s: %d upgrades of %d charts in %s, with %s of CPU time; %d not compared, of which %d are findings; %d MiB of memory in the largest process", state, timedUpgrades, len(entries),
			time.Since(began).Round(time.Second/10), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Second/10),
			strings.Count(string(out), `"problem":`), strings.Count(string(out), `"isFinding":`), usage.Maxrss>>10)
	}
}

// nextVersions returns each version of each chart with the next one.
func nextVersions(t *testing.T, dir string) (pairs [][2]release) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*/*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	byChart := map[string][]release{}
	for _, place := range found {
		packed, err := os.ReadFile(place)
		if err != nil {
			t.Fatal(err)
		}
		c, err := rendering.Do(t.Context(), rendering.Request{Chart: packed}) // without values, which renders nothing
		if err != nil {
			t.Fatal(err)
		}
		if c.Refused == "" {
			byChart[filepath.Dir(place)] = append(byChart[filepath.Dir(place)], release{c.Name, c.Version, place})
		}
	}
	for _, place := range found {
		all := byChart[filepath.Dir(place)]
		delete(byChart, filepath.Dir(place))
		slices.SortFunc(all, func(a, b release) int {
			return cmp.Or(semver.MustParse(a.version).Compare(semver.MustParse(b.version)), cmp.Compare(a.place, b.place))
		})
		for i := 1; i < len(all); i++ {
			pairs = append(pairs, [2]release{all[i-1], all[i]})
		}
	}
	return pairs
}

// defineVersions writes an application with versions.
func defineVersions(t *testing.T, catalog, name, url string, all []release) {
	t.Helper()
	text := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: " + name + "}\nspec:\n  method: helm\n  versions:\n"
	for _, r := range all {
		text += fmt.Sprintf("  - {version: %q, template: {source: {helm: {url: %q, chartName: %s, chartVersion: %q}}}}\n", r.version, url, r.chart, r.version)
	}
	dir := filepath.Join(catalog, "applications", name)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "application.yaml"), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}
