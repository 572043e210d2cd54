// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/storage"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/controllers/metrics"
	"github.com/winnow-dev/winnow/controllers/source"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// garbageTimeout bounds a garbage collection of archives.
const garbageTimeout = 10 * time.Second

// staged is appended to the name of an archive that no status names yet.
const staged = ".staged"

// contents are the buffers of archives, which are reused.
var contents = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Store writes the archive of a render and returns the artifact that describes it, which Unstage makes servable. It keeps
// an intact archive of the same revision. origin is the result of Origin; timing may be nil.
func (a *Artifacts) Store(cs *v1alpha1.CatalogSelection, result *render.Result, origin string, timing *metrics.Timing) (*meta.Artifact, error) {
	if last := cs.Status.Artifact; last != nil && last.Revision == result.Revision && a.Intact(cs) {
		kept := last.DeepCopy()
		kept.Metadata = map[string]string{v1.AnnotationRevision: origin}
		a.Storage.SetArtifactURL(kept)
		return kept, nil
	}
	timing.Enter(metrics.Archive)
	content := contents.Get().(*bytes.Buffer)
	defer contents.Put(content)
	content.Reset()
	if err := result.WriteArchive(content); err != nil {
		return nil, fmt.Errorf("writing the archive: %w", err)
	}
	timing.Enter(metrics.Store)
	size := content.Len()
	artifact := a.Storage.NewArtifactFor(sourcev1.ExternalArtifactKind, cs, result.Revision, archiveName(result.Revision))
	if err := a.Storage.MkdirAll(artifact); err != nil {
		return nil, fmt.Errorf("making the directory of the archive: %w", err)
	}
	name := artifact.Path
	artifact.Path += staged
	if err := a.Storage.Copy(&artifact, content); err != nil {
		return nil, fmt.Errorf("storing the archive: %w", err)
	}
	a.Traffic.Stored(int64(size))
	// The API stores whole seconds. The times of a selection increase with each publication, whatever the clocks of the
	// processes are that publish: Newer compares them.
	artifact.LastUpdateTime = artifact.LastUpdateTime.Rfc3339Copy()
	if last := cs.Status.Artifact; last != nil && !artifact.LastUpdateTime.After(last.LastUpdateTime.Time) {
		artifact.LastUpdateTime = metav1.NewTime(last.LastUpdateTime.Add(time.Second))
	}
	if err := os.Chtimes(a.Storage.LocalPath(artifact), time.Time{}, artifact.LastUpdateTime.Time); err != nil {
		return nil, fmt.Errorf("storing the archive: %w", err)
	}
	artifact.Path = name
	artifact.Metadata = map[string]string{v1.AnnotationRevision: origin}
	return &artifact, nil
}

// Unstage renames the archive that Store has written, and that the status names, to the name under which it is served.
// So a crash before the status is written leaves no archive that counts as published.
func (a *Artifacts) Unstage(cs *v1alpha1.CatalogSelection) error {
	artifact := cs.Status.Artifact
	if artifact == nil || !isOwn(cs, artifact) {
		return nil
	}
	file := a.Storage.LocalPath(*artifact)
	if err := os.Rename(file+staged, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("naming the archive: %w", err))
	}
	return nil
}

// isOwn reports whether the path of an artifact is in the directory of the selection.
func isOwn(cs *v1alpha1.CatalogSelection, artifact *meta.Artifact) bool {
	return path.Dir(artifact.Path) == storage.ArtifactDir(sourcev1.ExternalArtifactKind, cs.Namespace, cs.Name)
}

// archiveName returns the name of the file with the archive of a revision.
func archiveName(revision string) string {
	return revision[strings.LastIndexByte(revision, ':')+1:] + ".tar.gz"
}

// Origin joins the revisions of the sources, which Flux shows as lastAppliedOriginRevision of a Kustomization:
// the revision of a single source, or kind/namespace/name=revision of several, separated by commas.
func Origin(sources []source.Observed) string {
	if len(sources) == 1 {
		return sources[0].Artifact.Revision
	}
	parts := each.Map(sources, func(s source.Observed) string { return fmt.Sprintf("%s/%s=%s", s.Kind, s.Name, s.Artifact.Revision) })
	return strings.Join(parts, ",")
}

// Intact reports whether the directory of the selection has the bytes of the artifact in its status.
func (a *Artifacts) Intact(cs *v1alpha1.CatalogSelection) bool {
	artifact := cs.Status.Artifact
	return isOwn(cs, artifact) && a.Storage.ArtifactExist(*artifact) && a.Storage.VerifyArtifact(*artifact) == nil
}

// CollectGarbage deletes archives that are no longer served, after their retention, and returns their names. It
// deletes none while the archive in the status is missing.
func (a *Artifacts) CollectGarbage(ctx context.Context, cs *v1alpha1.CatalogSelection) ([]string, error) {
	if !a.Storage.ArtifactExist(*cs.Status.Artifact) {
		return nil, nil
	}
	return a.Storage.GarbageCollect(ctx, *cs.Status.Artifact, garbageTimeout)
}

// RemoveAll deletes all archives of a selection.
func (a *Artifacts) RemoveAll(cs *v1alpha1.CatalogSelection) error {
	_, err := a.Storage.RemoveAll(a.archives(cs))
	return err
}

// Stored returns the names of the selections that the storage has a directory of.
func (a *Artifacts) Stored() []types.NamespacedName {
	dirs, _ := a.glob(storage.ArtifactDir(sourcev1.ExternalArtifactKind, "*", "*"))
	return each.Map(dirs, func(dir string) types.NamespacedName {
		return types.NamespacedName{Namespace: path.Base(path.Dir(dir)), Name: path.Base(dir)}
	})
}

// glob returns the paths below the directory of the storage, which may have any name, that match a pattern.
func (a *Artifacts) glob(pattern string) ([]string, error) {
	return fs.Glob(os.DirFS(a.Storage.BasePath), pattern)
}

// HasAny reports whether the storage has a directory of the selection.
func (a *Artifacts) HasAny(cs *v1alpha1.CatalogSelection) bool {
	_, err := os.Stat(filepath.Dir(a.Storage.LocalPath(a.archives(cs))))
	return !errors.Is(err, fs.ErrNotExist)
}

func (a *Artifacts) archives(cs *v1alpha1.CatalogSelection) meta.Artifact {
	return a.Storage.NewArtifactFor(sourcev1.ExternalArtifactKind, cs, "", "*")
}

// Definitions reads the definitions of an artifact from the storage.
func (a *Artifacts) Definitions(ctx context.Context, cs *v1alpha1.CatalogSelection, artifact *meta.Artifact) ([]safeguard.Definition, error) {
	archive, err := a.open(cs, artifact)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	return render.ReadArtifact(ctx, archive)
}

// Files reads the files of objects of an artifact from the storage: see render.FilesOf.
func (a *Artifacts) Files(ctx context.Context, cs *v1alpha1.CatalogSelection, artifact *meta.Artifact, of map[safeguard.Key]bool) ([]render.File, map[safeguard.Key]bool, error) {
	archive, err := a.open(cs, artifact)
	if err != nil {
		return nil, nil, err
	}
	defer archive.Close()
	return render.FilesOf(ctx, archive, of)
}

func (a *Artifacts) open(cs *v1alpha1.CatalogSelection, artifact *meta.Artifact) (*os.File, error) {
	if !isOwn(cs, artifact) || !a.Storage.ArtifactExist(*artifact) {
		return nil, errors.New("the archive is missing")
	}
	if err := a.Storage.VerifyArtifact(*artifact); err != nil {
		return nil, errors.New("the archive is damaged")
	}
	archive, err := os.Open(a.Storage.LocalPath(*artifact))
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("opening the last archive: %w", err))
	}
	return archive, nil
}
