// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
)

// packageText is a package of a file-based catalog with one version.
func packageText(name, version string) string {
	return fmt.Sprintf(`schema: olm.package
name: %[1]s
defaultChannel: stable
---
schema: olm.channel
package: %[1]s
name: stable
entries:
- name: %[1]s.v%[2]s
---
schema: olm.bundle
package: %[1]s
name: %[1]s.v%[2]s
image: quay.io/example/%[1]s:v%[2]s
properties:
- type: olm.package
  value: {packageName: %[1]s, version: %[2]s}
`, name, version)
}

// uploadImage pushes a catalog image of several layers, and an index that has it. It returns the index.
func (e *environment) uploadImage(to *remote.Repository, layers ...[]byte) v1.Descriptor {
	e.Helper()
	push := func(blob registry.Blob) v1.Descriptor {
		if err := registry.PushBlob(e.Context(), to, blob); err != nil {
			e.Fatal(err)
		}
		return blob.Descriptor
	}
	encoded := func(document any) []byte {
		raw, err := json.Marshal(document)
		if err != nil {
			e.Fatal(err)
		}
		return raw
	}
	m := v1.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest}
	m.Config = push(registry.NewBlob(v1.MediaTypeImageConfig, encoded(v1.Image{Config: v1.ImageConfig{Labels: contract.ConfigsLabels()}})))
	for _, layer := range layers {
		m.Layers = append(m.Layers, push(registry.NewBlob(v1.MediaTypeImageLayerGzip, layer)))
	}
	image := push(registry.NewBlob(v1.MediaTypeImageManifest, encoded(m)))
	image.Platform = &v1.Platform{OS: "linux", Architecture: "amd64"}
	index := v1.Index{Versioned: m.Versioned, MediaType: v1.MediaTypeImageIndex, Manifests: []v1.Descriptor{image}}
	return e.uploadManifest(to, v1.MediaTypeImageIndex, encoded(index))
}

// The layers of an image have the catalog together, whatever source-controller has extracted of them.
func TestACatalogInTheLayersOfAnImage(t *testing.T) {
	base := catalogArchive(t, "bin/opm", "x", "configs/orchard/catalog.yaml", packageText("orchard", "1.0.0"), "configs/meadow/catalog.yaml", packageText("meadow", "1.0.0"))
	update := catalogArchive(t, "configs/orchard/catalog.yaml", packageText("orchard", "1.1.0"), "configs/.wh.meadow", "", "configs/pond/catalog.yaml", packageText("pond", "2.0.0"))
	for _, format := range []string{"", v1alpha1.FormatFileBased} {
		t.Run("format "+format, func(t *testing.T) {
			e, front := newEnvironment(t), newFront(t)
			to := e.repositoryAt(front.host())
			e.fluxPulled(to, e.uploadImage(to, base, update), base)
			e.selectByManifest(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Sources[0].Format = format
				cs.Spec.Push = &v1alpha1.Push{URL: fmt.Sprintf("oci://%s/%s/pushed", front.host(), e.namespace), Insecure: true, Type: v1alpha1.PushCatalogImage}
			})
			cs := e.reconcile("kkp")
			var found []string
			for _, application := range cs.Status.Applications {
				found = append(found, application.Name+" "+strings.Join(application.Versions, " "))
			}
			e.equal("applications", found, []string{"orchard orchard.v1.1.0", "pond pond.v2.0.0"})
			front.taken()
			e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Exclude = []string{"pond"} })
			e.reconcile("kkp")
			e.equal("requests for a cached catalog", front.taken(), []string(nil))

			// The artifact's packages are pushed as an image, which is a catalog image again.
			e.push()
			cs = e.reconcile("kkp")
			pushed := e.repositoryAt(front.host())
			pushed.Reference.Repository = e.namespace + "/pushed"
			manifest, raw, err := registry.FetchManifest(t.Context(), pushed, "latest")
			if err != nil || cs.Status.Push == nil || !strings.HasSuffix(cs.Status.Push.URL, "@"+manifest.Digest.String()) {
				t.Fatalf("status.push is %+v: %v", cs.Status.Push, err)
			}
			image, err := registry.FetchImage(t.Context(), pushed, manifest, raw)
			if err != nil {
				t.Fatal(err)
			}
			directory, err := contract.CatalogDirectory(image.Labels)
			if err != nil {
				t.Fatal(err)
			}
			var packed bytes.Buffer
			if err := image.Unpack(t.Context(), pushed, directory, &packed, registry.UnpackLimits{}); err != nil {
				t.Fatal(err)
			}
			got, err := archive.Read(t.Context(), &packed, archive.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			served, err := archive.Read(t.Context(), bytes.NewReader(e.download(e.announced("kkp"))), archive.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := contract.ConfigsIn(served)
			if err != nil || want == nil || got.Digest() != want.Digest() {
				t.Errorf("the image has %q, the artifact %q: %v", got.Paths(), served.Paths(), err)
			}
		})
	}
}

// A process that ends while it unpacks an image, for want of memory for example, leaves no file behind: the next one has the
// same volume for temporary files.
func TestAnImageThatIsUnpackedHasNoNameOnDisk(t *testing.T) {
	e, front := newEnvironment(t), newFront(t)
	t.Setenv("TMPDIR", t.TempDir())
	to := e.repositoryAt(front.host())
	layer := catalogArchive(t, "configs/orchard/catalog.yaml", packageText("orchard", "1.0.0"))
	e.fluxPulled(to, e.uploadImage(to, layer), layer)
	e.selectByManifest(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Format = v1alpha1.FormatFileBased })
	fetched := false
	front.does(at("/blobs/"+digest.FromBytes(layer).String(), func(http.ResponseWriter, *http.Request) bool {
		fetched = true
		files, err := os.ReadDir(os.TempDir())
		if err != nil || len(files) > 0 {
			t.Errorf("there are the temporary files %v: %v", files, err)
		}
		return false
	}))
	if cs := e.reconcile("kkp"); len(cs.Status.Applications) != 1 || !fetched {
		t.Errorf("the applications are %v, and the layer was fetched: %t", cs.Status.Applications, fetched)
	}
}

// An image that was refused after a slow request proves nothing about the next one.
func TestAnImageThatReplacesARefusedOne(t *testing.T) {
	e, front := newEnvironment(t), newFront(t)
	to := e.repositoryAt(front.host())
	odd := catalogArchive(t, "configs/orchard/.wh.", "")
	e.fluxPulled(to, e.uploadImage(to, odd), odd)
	e.selectByManifest(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Format = v1alpha1.FormatFileBased })
	front.does(at("/blobs/"+digest.FromBytes(odd).String(), func(http.ResponseWriter, *http.Request) bool {
		time.Sleep(1500 * time.Millisecond) // long enough for its error to be cached
		return false
	}))
	if _, err := e.tryReconcile("kkp"); err != nil {
		t.Fatal(err)
	}
	e.equal("conditions", conditionsOf(e.get("kkp")), []string{"Ready=False InvalidArchive", "Stalled=True InvalidArchive"})
	layer := catalogArchive(t, "configs/orchard/catalog.yaml", packageText("orchard", "1.0.0"))
	e.fluxPulled(to, e.uploadImage(to, layer), layer)
	if cs := e.reconcile("kkp"); len(cs.Status.Applications) != 1 {
		t.Errorf("the conditions are %v", cs.Status.Conditions)
	}
}

// A tag that Flux follows does not become an image, and an artifact without packages is none.
func TestTheTypeOfAPushThatChanges(t *testing.T) {
	p := newPushing(t)
	p.settle()
	before, _ := p.tagged("latest")
	p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push.Type = v1alpha1.PushCatalogImage })
	p.settle()
	if got := p.condition(); !strings.HasPrefix(got, "False PushFailed: ") || !strings.Contains(got, "the artifact has no packages in configs/") {
		t.Errorf("Pushed is %s", got)
	}
	to := p.repositoryAt(p.front.host())
	p.fluxPulled(to, p.uploadImage(to, catalogArchive(t, "configs/a/catalog.yaml", packageText("orchard", "1.0.0"))), nil)
	p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Sources[0].Format = v1alpha1.FormatFileBased })
	p.settle()
	if got := p.condition(); !strings.HasPrefix(got, "False TagConflict: ") || !strings.Contains(got, "which was pushed with another spec.push.type") {
		t.Errorf("Pushed is %s", got)
	}
	if after, _ := p.tagged("latest"); after != before {
		t.Errorf("latest moved from %s to %s", before, after)
	}
}
