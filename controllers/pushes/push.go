package pushes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/holds"
	"github.com/winnow-dev/winnow/controllers/registries"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
)

// push pushes the artifact of a job and returns its address with the digest.
func (p *Pushes) push(ctx context.Context, key types.NamespacedName, job pushJob) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	packed, err := p.pack(ctx, job)
	if err != nil {
		return "", err
	}
	to, err := p.registries.Connect(ctx, job.access)
	if err != nil {
		return "", err
	}
	defer to.Close()
	pusher := registry.Pusher{Move: func(ctx context.Context, _ string, now v1.Descriptor) error {
		return job.mayMove(ctx, to, now, p.revisionOf(key, now.Digest))
	}}
	p.noteRevision(key, job, packed.Manifest.Descriptor.Digest)
	if err := pusher.Push(ctx, to.Repository, packed, job.tags); err != nil {
		return "", to.Plain(err)
	}
	return job.access.URL + "@" + packed.Manifest.Descriptor.Digest.String(), nil
}

// pack returns the artifact with the archive of the storage, or the image of it. The same job gives the same digest.
func (p *Pushes) pack(ctx context.Context, job pushJob) (registry.Artifact, error) {
	if job.image {
		if err := p.packing.Acquire(ctx, 1); err != nil {
			return registry.Artifact{}, fmt.Errorf("waiting until other images are packed: %w", err)
		}
		defer p.packing.Release(1)
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
	files, err := archive.Read(ctx, bytes.NewReader(artifact), render.LimitsOf(v1alpha1.FormatFileBased))
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
		return strings.HasPrefix(path, render.InstancesDir+"/") && bytes.Contains(content, name)
	})
}

// tagConflict reports that a tag refers to an artifact that this selection has not pushed.
type tagConflict struct {
	// found describes the artifact that the tag refers to.
	found string
}

func (e *tagConflict) Error() string {
	return fmt.Sprintf("it names %s: choose another tag or another repository, or delete the tag", e.found)
}

// mayMove returns an error for a tag of another writer. Two selections that move one tag in turns would install
// and remove their applications in all clusters that follow the tag. noted is the revision of the tagged manifest, if
// this process has pushed it.
func (job pushJob) mayMove(ctx context.Context, to *registries.Connection, now v1.Descriptor, noted string) error {
	_, raw, err := registry.FetchManifest(ctx, to.Repository, now.Digest.String())
	if err != nil {
		return err
	}
	var m v1.Manifest
	if err := json.Unmarshal(raw, &m); err != nil || m.ArtifactType != v1alpha1.RenderedArtifactType && !isPushedImage(m) {
		return &tagConflict{now.Digest.String() + ", which no CatalogSelection has pushed"}
	}
	if owner := m.Annotations[v1alpha1.SelectionAnnotation]; owner != job.selection {
		return &tagConflict{fmt.Sprintf("%s, which the CatalogSelection %.130q has pushed", now.Digest, owner)}
	}
	// Who follows the tag of an artifact cannot apply an image.
	if isPushedImage(m) != job.image {
		return &tagConflict{now.Digest.String() + ", which was pushed with another spec.push.type"}
	}
	// The images of catalogs name no revision.
	revision := cmp.Or(m.Annotations[v1alpha1.RevisionAnnotation], noted)
	if now.Digest == job.last || revision != "" && (revision == job.revision || slices.Contains(job.compared, revision)) {
		return nil
	}
	return job.compare(ctx, to, m)
}

// isPushedImage reports whether a manifest is that of an image that a CatalogSelection has pushed.
func isPushedImage(m v1.Manifest) bool {
	return m.ArtifactType == "" && m.Config.MediaType == v1.MediaTypeImageConfig && m.Annotations[v1alpha1.SelectionAnnotation] != ""
}

// pushHeld reports that the tagged artifact contains definitions that the new one lacks, though the record of
// the selection does not have that revision.
type pushHeld struct {
	reason  string
	message string
}

func (e *pushHeld) Error() string { return e.message }

// compare holds a push that would remove definitions from the clusters that follow the tag: the record of the
// selection was lost, or begins after the tagged artifact.
func (job pushJob) compare(ctx context.Context, to *registries.Connection, m v1.Manifest) error {
	if job.approved {
		return nil
	}
	if job.image {
		return &pushHeld{v1alpha1.BaselineLostReason, "the tagged image is neither the last one that was pushed nor of a revision in the record, and images are not compared" + job.release()}
	}
	if len(m.Layers) != 1 {
		return &pushHeld{v1alpha1.BaselineLostReason, "the tagged artifact cannot be compared: it does not have exactly one layer" + job.release()}
	}
	layer, err := registry.FetchLayer(ctx, to.Repository, m.Layers[0], archive.DefaultLimits().Compressed)
	if err != nil {
		return fmt.Errorf("reading the tagged artifact: %w", err)
	}
	before, err := render.ReadArtifact(ctx, bytes.NewReader(layer))
	if err != nil {
		return &pushHeld{v1alpha1.BaselineLostReason, "the tagged artifact cannot be compared: " + err.Error() + job.release()}
	}
	archived, err := os.Open(job.file)
	if err != nil {
		return fmt.Errorf("opening the archive: %w", err)
	}
	defer archived.Close()
	next, err := render.ReadArtifact(ctx, archived)
	if err != nil {
		return err
	}
	held := slices.DeleteFunc(safeguard.Compare(before, next), func(c safeguard.Change) bool {
		return !guard.Holds(job.safeguards, c)
	})
	if len(held) == 0 {
		return nil
	}
	return &pushHeld{
		guard.MostSerious(held),
		"the tagged artifact contains more: " + holds.Describe(holds.Reasons(held, selection.Result{}), len(held)) + job.release(),
	}
}

// release returns the part of a message that explains how to release a held push.
func (job pushJob) release() string {
	return "; to push it all the same, add to spec.safeguards.approve: " + guard.Checksum(job.revision)
}
