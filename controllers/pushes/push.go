// SPDX-License-Identifier: Apache-2.0

package pushes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/memory"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/controllers/transfers"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/tree"
)

// sender sends artifacts to registries.
type sender struct {
	registries *registries.Registries
	failures   *transfers.Failures
	// reading bounds the memory of the artifacts that are compared.
	reading *memory.Budget
	// comparing is held while an artifact is read, which takes long with patches and cannot be interrupted then.
	comparing *semaphore.Weighted
	// readArtifact is render.ReadArtifact.
	readArtifact func(context.Context, io.Reader) ([]safeguard.Definition, error)
	// sending bounds the memory of what is sent.
	sending *memory.Budget
	// packing is held while an image is packed, which takes several times the memory of its layer: one image at a time.
	// It is not held while the image is sent, so that a registry that hangs does not block other pushes.
	packing *semaphore.Weighted
	noted   noted
}

// push pushes the artifact of a job and returns its address with the digest.
func (s *sender) push(ctx context.Context, key types.NamespacedName, job pushJob) (string, error) {
	connection, host := job.access.Connection(), job.access.Host()
	if err := s.failures.Check(connection, host); err != nil {
		return "", err // without waiting for memory
	}
	packed, release, err := s.prepare(ctx, job)
	if err != nil {
		return "", err
	}
	defer release()
	err = s.failures.Do(ctx, connection, host, pushTimeout, func(ctx context.Context) error {
		return s.send(ctx, key, job, packed)
	})
	if err != nil {
		return "", err
	}
	return job.access.URL + "@" + packed.Manifest.Descriptor.Digest.String(), nil
}

// prepare packs the artifact of a job, once there is memory for it, which release returns.
func (s *sender) prepare(ctx context.Context, job pushJob) (packed registry.Artifact, release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	archived, err := os.Stat(job.file)
	if err != nil {
		return packed, nil, fmt.Errorf("reading the archive: %w", err)
	}
	release, err = s.sending.Acquire(ctx, archived.Size())
	if err != nil {
		return packed, nil, fmt.Errorf("waiting until other artifacts are sent: %w", err)
	}
	if packed, err = s.pack(ctx, job); err != nil {
		release()
		return packed, nil, err
	}
	return packed, release, nil
}

// send pushes a packed artifact.
func (s *sender) send(ctx context.Context, key types.NamespacedName, job pushJob, packed registry.Artifact) error {
	to, err := s.registries.Connect(ctx, job.access)
	if err != nil {
		return err
	}
	defer to.Close()
	pusher := registry.Pusher{Move: func(ctx context.Context, _ string, now v1.Descriptor) error {
		return s.mayMove(ctx, job, to, now, s.noted.revisionOf(key, now.Digest))
	}}
	s.noted.note(key, job, packed.Manifest.Descriptor.Digest)
	return to.Plain(pusher.Push(ctx, to.Repository, packed, job.tags))
}

// pack returns the artifact with the archive of the storage, or the image of it. The same job gives the same digest.
func (s *sender) pack(ctx context.Context, job pushJob) (registry.Artifact, error) {
	if job.image {
		if err := s.packing.Acquire(ctx, 1); err != nil {
			return registry.Artifact{}, fmt.Errorf("waiting until other images are packed: %w", err)
		}
		defer s.packing.Release(1)
	}
	content, err := os.ReadFile(job.file)
	if err != nil {
		return registry.Artifact{}, fmt.Errorf("reading the archive: %w", err)
	}
	recorded := digest.Digest(job.digest)
	if err := recorded.Validate(); err != nil || recorded.Algorithm().FromBytes(content) != recorded {
		return registry.Artifact{}, errors.New("the archive in the storage is damaged")
	}
	annotations := map[string]string{
		v1.AnnotationRevision:        job.sources,
		v1alpha1.RevisionAnnotation:  job.revision,
		v1alpha1.SelectionAnnotation: job.selection,
	}
	if job.image {
		return packImage(ctx, content, job.selection, annotations)
	}
	return registry.Pack(v1alpha1.RenderedArtifactType, registry.NewBlob(v1.MediaTypeImageLayerGzip, content), annotations)
}

// packImage returns the image with the packages of an artifact. It has the annotations, unless a catalog in the artifact
// names the image: the spec may have changed since the artifact was published.
func packImage(ctx context.Context, artifact []byte, selection string, annotations map[string]string) (registry.Artifact, error) {
	files, err := archive.Read(ctx, bytes.NewReader(artifact), loading.LimitsOf(v1alpha1.FormatFileBased))
	if err != nil {
		return registry.Artifact{}, fmt.Errorf("reading the artifact: %w", err)
	}
	configs, err := contract.ConfigsIn(files)
	if err != nil {
		return registry.Artifact{}, err
	}
	if configs == nil {
		return registry.Artifact{}, fmt.Errorf("the artifact has no packages in %s/: a %s needs a source of the format %s, and definitions: %s",
			contract.ConfigsDirectory, v1alpha1.PushCatalogImage, v1alpha1.FormatFileBased, v1alpha1.DefinitionsPublish)
	}
	image, err := contract.PackConfigs(configs, contract.ServedAnnotations(selection))
	if err == nil && !namesImage(files, image) {
		image, err = contract.PackImage(image.Layer, contract.ConfigsLabels(), annotations)
	}
	return registry.NewImage(image.Config, image.Layer, image.Manifest), err
}

// namesImage reports whether an object of an artifact names an image by its digest.
func namesImage(artifact *tree.Tree, image contract.Image) bool {
	name := []byte("@" + image.Digest().String())
	return slices.ContainsFunc(artifact.Paths(), func(path string) bool {
		content, _ := artifact.Content(path)
		return strings.HasPrefix(path, installation.Dir+"/") && bytes.Contains(content, name)
	})
}

// refusal reports why a tag is not moved to the artifact of a selection: the selection has not pushed what the tag refers to, or that
// contains definitions that the artifact lacks.
type refusal struct {
	// reason of the condition Pushed.
	reason, message string
}

func (e *refusal) Error() string { return e.message }

// mayMove returns an error for a tag of another writer. Two selections that move one tag in turns would install
// and remove their applications in all clusters that follow the tag. noted is the revision of the tagged manifest, if
// this process has pushed it.
func (s *sender) mayMove(ctx context.Context, job pushJob, to *registries.Connection, now v1.Descriptor, noted string) error {
	conflict := func(whose string) error {
		return &refusal{v1alpha1.TagConflictReason, fmt.Sprintf("it names %s, which %s: choose another tag or another repository, or delete the tag", now.Digest, whose)}
	}
	_, raw, err := registry.FetchManifest(ctx, to.Repository, now.Digest.String())
	if err != nil {
		return err
	}
	var m v1.Manifest
	if err := json.Unmarshal(raw, &m); err != nil || m.ArtifactType != v1alpha1.RenderedArtifactType && !isPushedImage(m) {
		return conflict("no CatalogSelection has pushed")
	}
	if owner := m.Annotations[v1alpha1.SelectionAnnotation]; owner != job.selection {
		return conflict(fmt.Sprintf("the CatalogSelection %.130q has pushed", owner))
	}
	// Who follows the tag of an artifact cannot apply an image.
	if isPushedImage(m) != job.image {
		return conflict("was pushed with another spec.push.type")
	}
	// The images of catalogs name no revision.
	revision := cmp.Or(m.Annotations[v1alpha1.RevisionAnnotation], noted)
	if now.Digest == job.last || revision != "" && (revision == job.revision || slices.Contains(job.compared, revision)) {
		return nil
	}
	return s.compare(ctx, job, to, m)
}

// isPushedImage reports whether a CatalogSelection has pushed the image of a manifest.
func isPushedImage(m v1.Manifest) bool {
	return m.ArtifactType == "" && m.Config.MediaType == v1.MediaTypeImageConfig && m.Annotations[v1alpha1.SelectionAnnotation] != ""
}
