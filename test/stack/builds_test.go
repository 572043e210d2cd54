package stack

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tinyServers returns servers of modules of their own, which take so many minutes by their own account.
func tinyServers(t *testing.T, source string, minutes ...int) (*builder, []server, *bytes.Buffer) {
	t.Helper()
	tools := t.TempDir()
	var servers []server
	for i, m := range minutes {
		name := string(rune('a' + i))
		writeFile(t, filepath.Join(tools, name, "go.mod"), "module example.com/"+name+"\n\ngo 1.26.0\n", 0o600)
		writeFile(t, filepath.Join(tools, name, "go.sum"), "", 0o600)
		writeFile(t, filepath.Join(tools, name, "main.go"), "package main\n\n"+source+"\n", 0o600)
		servers = append(servers, server{name: name, module: name, pkg: "example.com/" + name, versionOf: "example.com/" + name, minutes: m})
	}
	var narration bytes.Buffer
	return &builder{tools: tools, cache: t.TempDir(), progress: newProgress(&narration)}, servers, &narration
}

func TestTheLongestBuildsComeFirst(t *testing.T) {
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
	text := narration.String()
	if !strings.HasPrefix(text, "==> 3 servers are missing: about 9 min on 2 cores, only once\n    a, b, c\n") {
		t.Errorf("the narration is\n%s", text)
	}
	if last := strings.Index(text, "building a"); strings.Index(text, "built in") > last {
		t.Errorf("the shortest build does not wait for a longer one:\n%s", text)
	}

	narration.Reset()
	if again, err := b.binaries(t.Context(), servers); err != nil || again["a"] != paths["a"] || narration.Len() > 0 {
		t.Errorf("binaries that exist: %v, %v, %s", again, err, narration)
	}
}

func TestABuildThatFailsEndsTheOthers(t *testing.T) {
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
	srv := server{name: "etcd", minutes: 4}
	if got := progressOf(srv, 90*time.Second); got != "etcd: 1m30s of about 4 min alone" {
		t.Errorf("progressOf() = %q", got)
	}
}
