package controllers

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// storageWatch sends an event for a selection as soon as the archive that it serves is removed
// or renamed on disk, so that it is rendered again before a Kustomization misses it.
type storageWatch struct {
	watcher *fsnotify.Watcher
	events  chan event.GenericEvent

	mu     sync.Mutex
	served map[string]served // by directory: each belongs to one selection
}

type served struct {
	file string
	key  types.NamespacedName
}

func newStorageWatch() (*storageWatch, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching the storage: %w", err)
	}
	return &storageWatch{
		watcher: watcher,
		events:  make(chan event.GenericEvent),
		served:  map[string]served{},
	}, nil
}

// watch replaces the file that the selection serves. It is cheap for a file already watched.
func (w *storageWatch) watch(file string, key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	dir := filepath.Dir(file)
	if w.served[dir].file == file {
		return
	}
	// Without a watch, for example out of inotify handles, the interval finds the loss.
	if err := w.watcher.Add(dir); err == nil {
		w.served[dir] = served{file: file, key: key}
	}
}

// forget ends the watch of the directory of file.
func (w *storageWatch) forget(file string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	dir := filepath.Dir(file)
	if _, ok := w.served[dir]; ok {
		delete(w.served, dir)
		_ = w.watcher.Remove(dir)
	}
}

// Start passes events on until the context ends. It implements manager.Runnable.
func (w *storageWatch) Start(ctx context.Context) error {
	defer w.watcher.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-w.watcher.Errors:
			ctrl.LoggerFrom(ctx).Error(err, "watching the storage")
		case e := <-w.watcher.Events:
			w.handle(ctx, e)
		}
	}
}

func (w *storageWatch) handle(ctx context.Context, e fsnotify.Event) {
	if !e.Has(fsnotify.Remove) && !e.Has(fsnotify.Rename) {
		return
	}
	lost, ok := w.lostBy(e.Name)
	if !ok {
		return
	}
	cs := &v1alpha1.CatalogSelection{}
	cs.Name, cs.Namespace = lost.Name, lost.Namespace
	select {
	case w.events <- event.GenericEvent{Object: client.Object(cs)}:
	case <-ctx.Done():
	}
}

// lostBy returns the selection that serves the removed file or directory, and forgets it: the
// selection comes back with watch once it has stored its archive again.
func (w *storageWatch) lostBy(name string) (types.NamespacedName, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, dir := range []string{name, filepath.Dir(name)} {
		if s, ok := w.served[dir]; ok && (dir == name || s.file == name) {
			delete(w.served, dir)
			return s.key, true
		}
	}
	return types.NamespacedName{}, false
}
