package controllers

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// watched is a running watch of dir/sel/current with an older file beside it.
type watched struct {
	*testing.T
	*storageWatch
	dir string
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w, err := newStorageWatch()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "sel")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	watched := &watched{T: t, storageWatch: w, dir: dir}
	watched.write("older")
	watched.write("current")
	w.watch(watched.path("current"), types.NamespacedName{Namespace: "ns", Name: "sel"})
	return watched
}

func (w *watched) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watched) write(name string) {
	w.Helper()
	if err := os.WriteFile(w.path(name), nil, 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *watched) remove(path string) {
	w.Helper()
	if err := os.RemoveAll(path); err != nil {
		w.Fatal(err)
	}
}

// expect demands an event for the selection. Events come in order, so that one too many before
// it would be taken for it: use it with another name to show that nothing else came.
func (w *watched) expect(name string) {
	w.Helper()
	select {
	case e := <-w.events:
		if e.Object.GetName() != name || e.Object.GetNamespace() != "ns" {
			w.Errorf("event of %s/%s, want ns/%s", e.Object.GetNamespace(), e.Object.GetName(), name)
		}
	case <-time.After(10 * time.Second):
		w.Errorf("no event of %s", name)
	}
}

// serve watches another file under another name.
func (w *watched) serve(file, name string) {
	w.watch(w.path(file), types.NamespacedName{Namespace: "ns", Name: name})
}

func TestALostArchiveIsReported(t *testing.T) {
	for _, test := range []struct {
		name string
		lose func(w *watched)
	}{
		{"the file is removed", func(w *watched) { w.remove(w.path("current")) }},
		{"the file is renamed", func(w *watched) {
			if err := os.Rename(w.path("current"), w.path("moved")); err != nil {
				w.Fatal(err)
			}
		}},
		{"the directory is removed", func(w *watched) { w.remove(w.dir) }},
		{"the directory is renamed", func(w *watched) {
			if err := os.Rename(w.dir, w.dir+"-moved"); err != nil {
				w.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWatched(t)
			test.lose(w)
			w.expect("sel")
		})
	}
}

func TestOtherFilesAreNotReported(t *testing.T) {
	w := newWatched(t)
	w.remove(w.path("older"))
	w.write("current")
	w.write("new")
	w.serve("new", "newer")
	w.remove(w.path("current"))
	w.remove(w.path("new"))
	w.expect("newer")
}

func TestALostArchiveIsWatchedAgainOnceItIsBack(t *testing.T) {
	w := newWatched(t)
	for range 3 {
		w.remove(w.dir)
		w.expect("sel")
		if err := os.Mkdir(w.dir, 0o750); err != nil {
			t.Fatal(err)
		}
		w.write("current")
		w.serve("current", "sel")
	}
}

func TestAForgottenArchiveIsNotReported(t *testing.T) {
	w := newWatched(t)
	w.forget(w.path("*"))
	w.remove(w.path("current"))
	w.write("next")
	w.serve("next", "next")
	w.remove(w.path("next"))
	w.expect("next")
}

func TestADirectoryThatCannotBeWatchedIsLeftToTheInterval(t *testing.T) {
	w := newWatched(t)
	w.serve("none/at/all", "lost")
	w.remove(w.path("current"))
	w.expect("sel")
}
