// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tinyServers returns servers that take so many minutes by their own account. The first two share a module.
func tinyServers(t *testing.T, source string, minutes ...int) (*builder, []server, *bytes.Buffer) {
	t.Helper()
	tools := t.TempDir()
	var servers []server
	for i, m := range minutes {
		name, module := string(rune('a'+i)), "m"+string(rune('0'+max(i, 1)))
		writeFile(t, filepath.Join(tools, module, "go.mod"), "module example.com/"+module+"\n\ngo 1.26.0\n", 0o600)
		writeFile(t, filepath.Join(tools, module, "go.sum"), "", 0o600)
		writeFile(t, filepath.Join(tools, module, name, "main.go"), "package main\n\n"+source+"\n", 0o600)
		servers = append(servers, server{name: name, module: module, pkg: "example.com/" + module + "/" + name, versionOf: "example.com/" + module, minutes: m})
	}
	var narration bytes.Buffer
	return &builder{tools: tools, cache: t.TempDir(), progress: newProgress(&narration)}, servers, &narration
}

func TestServersOfAModuleAreBuiltTogether(t *testing.T) {
	b, servers, narration := tinyServers(t, "func main() {}", 1, 5, 3)
	paths, err := b.binaries(t.Context(), servers)
	if err != nil {
		t.Fatal(err)
	}
	for _, srv := range servers {
		if !executable(paths[srv.name]) {
			t.Errorf("the path of %s is %q", srv.name, paths[srv.name])
		}
	}
	for _, line := range []string{"==> building, only once: about 6 min on 2 cores\n    a, b\n", "==> building, only once: about 3 min on 2 cores\n    c\n"} {
		if !strings.Contains(narration.String(), line) {
			t.Errorf("the narration lacks %q:\n%s", line, narration)
		}
	}

	narration.Reset()
	if again, err := b.binaries(t.Context(), servers); err != nil || again["a"] != paths["a"] || narration.Len() > 0 {
		t.Errorf("binaries that exist: %v, %v, %s", again, err, narration)
	}
}

func TestNamesOfExecutables(t *testing.T) {
	for pkg, want := range map[string]string{
		"go.etcd.io/etcd/server/v3": "server", "github.com/fluxcd/source-controller": "source-controller", "example.com/v2x": "v2x",
	} {
		if got := executableOf(pkg); got != want {
			t.Errorf("executableOf(%s) = %s, want %s", pkg, got, want)
		}
	}
}

func TestUnmodifiedPins(t *testing.T) {
	module := func(pins string) string {
		t.Helper()
		t.Setenv(pinsVariable, pins)
		b, err := newBuilder(t.TempDir(), newProgress(nil))
		if err != nil {
			return err.Error()
		}
		return b.moduleOf(servers()[0])
	}
	if got := module(""); got != serversModule {
		t.Errorf("etcd is built from %s", got)
	}
	if got := module("upstream"); got != "etcd" {
		t.Errorf("with the pins of its project, etcd is built from %s", got)
	}
	if got := module("other"); !strings.Contains(got, "is not upstream") {
		t.Errorf("other pins give %s", got)
	}
}

func TestABuildThatFailsIsReported(t *testing.T) {
	b, servers, _ := tinyServers(t, "func main() { nonsense() }", 1, 2, 3)
	if _, err := b.binaries(t.Context(), servers); err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("binaries() = %v", err)
	}
}

func TestABuildReportsItsTime(t *testing.T) {
	notes := make(chan time.Duration)
	stop := report(time.Millisecond, func(elapsed time.Duration) {
		select {
		case notes <- elapsed:
		default:
		}
	})
	if elapsed := <-notes; elapsed < time.Millisecond {
		t.Errorf("the first note comes after %s", elapsed)
	}
	stop()
	if got := progressOf([]server{{minutes: 4}, {minutes: 1}}, 90*time.Second); got != "1m30s of about 5 min" {
		t.Errorf("progressOf() = %q", got)
	}
}
