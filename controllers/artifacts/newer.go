// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/failure"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// Newer is a publication of a selection that its status does not know: the status was restored from a backup.
type Newer struct {
	// Revision of the publication; of an archive that no ExternalArtifact names, its checksum alone.
	Revision string
	// artifact of the ExternalArtifact; nil for an archive.
	artifact *meta.Artifact
	// file is the path of an archive.
	file string
	// at is when it was published.
	at time.Time
}

// Publication tells the publication from an earlier one of the same revision.
func (n *Newer) Publication() string {
	return n.Revision + " of " + n.at.UTC().Format(time.RFC3339Nano)
}

// String states where the publication was found.
func (n *Newer) String() string {
	where := "the ExternalArtifact names"
	if n.artifact == nil {
		where = "the storage has"
	}
	return fmt.Sprintf("%s %s, which the status does not know: it is older", where, n.Revision)
}

// Newer returns the publication that is newer than the status; nil if there is none. known are the revisions that the
// status knows, the published one first. The ExternalArtifact of a crash between two writes names one of these, and so
// does one that was restored. While the ExternalArtifact names none, the archives in the storage count, unless none of them
// reached a cluster.
func (a *Artifacts) Newer(ctx context.Context, cs *v1alpha1.CatalogSelection, known []string) (*Newer, error) {
	announced, err := a.Find(ctx, cs)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	switch missing := err != nil; {
	case missing || announced.Status.Artifact == nil && !reachedNoCluster(cs, announced):
		return a.newestArchive(cs, known)
	case announced.Status.Artifact == nil || !a.stored(cs, announced.Status.Artifact) || knows(cs, known, announced.Status.Artifact):
		return nil, nil
	}
	return a.confirmed(ctx, cs, known)
}

// reachedNoCluster reports whether no archive of the selection was ever served or pushed. The ExternalArtifact tells that after the
// status is lost.
func reachedNoCluster(cs *v1alpha1.CatalogSelection, announced *sourcev1.ExternalArtifact) bool {
	awaited := consumers.Awaited(cs) || cs.Status.Artifact == nil && conditions.GetReason(announced, meta.ReadyCondition) == v1alpha1.NoConsumerReason
	return awaited && cs.Spec.Push == nil
}

// stored reports whether Store may have written the archive of an artifact: its path has the revision. Otherwise the
// ExternalArtifact was edited, which Announce repairs.
func (a *Artifacts) stored(cs *v1alpha1.CatalogSelection, artifact *meta.Artifact) bool {
	return artifact.Path == a.Storage.NewArtifactFor(sourcev1.ExternalArtifactKind, cs, artifact.Revision, archiveName(artifact.Revision)).Path
}

// knows reports whether the status knows the artifact, as the published one or as an older one. A revision that was published
// once more after the status was written is newer, even if the status has it: lines were used in between.
func knows(cs *v1alpha1.CatalogSelection, known []string, artifact *meta.Artifact) bool {
	last := cs.Status.Artifact
	return last != nil && slices.Contains(known, artifact.Revision) && !artifact.LastUpdateTime.After(last.LastUpdateTime.Time)
}

// confirmed returns the artifact of the ExternalArtifact in the API server, past the cache, and takes it over from a selection that was
// replaced, which a frozen process may still publish. If the selection was published meanwhile, it returns a conflict.
func (a *Artifacts) confirmed(ctx context.Context, cs *v1alpha1.CatalogSelection, known []string) (*Newer, error) {
	announced, err := find(ctx, a.APIReader, cs)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("reading the ExternalArtifact: %w", err))
	}
	now := &v1alpha1.CatalogSelection{}
	if err := a.APIReader.Get(ctx, client.ObjectKeyFromObject(cs), now); err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("reading the CatalogSelection: %w", err))
	}
	artifact := announced.Status.Artifact
	switch {
	case now.UID != cs.UID || !equality.Semantic.DeepEqual(now.Status.Artifact, cs.Status.Artifact):
		return nil, failure.Conflict(cs, errPublished)
	case artifact == nil || !a.stored(cs, artifact) || knows(cs, known, artifact):
		return nil, nil
	}
	return &Newer{Revision: artifact.Revision, artifact: artifact, at: artifact.LastUpdateTime.Time}, a.patchSpec(ctx, cs, announced)
}

// newestArchive returns the newest archive in the storage if it was published after the status was written: the status does
// not know its revision, or it was published once more since. Otherwise it returns nil.
func (a *Artifacts) newestArchive(cs *v1alpha1.CatalogSelection, known []string) (*Newer, error) {
	files, err := a.glob(a.archives(cs).Path)
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("listing the archives: %w", err))
	}
	var newest *Newer
	for _, file := range files {
		sum, isArchive := strings.CutSuffix(path.Base(file), ".tar.gz")
		file = filepath.Join(a.Storage.BasePath, file)
		info, err := os.Lstat(file)
		if !isArchive || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if newest == nil || info.ModTime().After(newest.at) {
			newest = &Newer{Revision: "sha256:" + sum, file: file, at: info.ModTime()}
		}
	}
	if newest == nil || knowsArchive(cs, known, newest) {
		return nil, nil
	}
	return newest, nil
}

// clockSkew is by how much the clocks of two processes that write archives may differ.
const clockSkew = time.Minute

// knowsArchive is knows for an archive. The API stores whole seconds. One that is older than the
// published one may be of a revision that the record has forgotten: a storage has it whose process did not lead for long.
func knowsArchive(cs *v1alpha1.CatalogSelection, known []string, n *Newer) bool {
	last := cs.Status.Artifact
	if last == nil {
		return false
	}
	age := last.LastUpdateTime.Sub(n.at.Truncate(time.Second))
	return age > clockSkew || age >= 0 && slices.ContainsFunc(known, func(revision string) bool { return archiveName(revision) == filepath.Base(n.file) })
}

// DefinitionsOf reads the definitions of a newer publication from the storage.
func (a *Artifacts) DefinitionsOf(ctx context.Context, cs *v1alpha1.CatalogSelection, n *Newer) ([]safeguard.Definition, error) {
	if n.artifact != nil {
		return a.Definitions(ctx, cs, n.artifact)
	}
	archive, err := os.Open(n.file)
	if err != nil {
		return nil, failure.Because(v1alpha1.StorageFailedReason, fmt.Errorf("opening the archive: %w", err))
	}
	defer archive.Close()
	return render.ReadArtifact(ctx, archive)
}
