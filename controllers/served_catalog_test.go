// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
)

// The image that the catalog in the artifact names is in the registry, and the tag follows it, though its manifest names no
// revision: with the next catalog, after a restart, and once no catalog names it any more.
func TestTheCatalogOfAPush(t *testing.T) {
	p := newPushing(t)
	to := p.repositoryAt(p.front.host())
	upload := func(text string) {
		p.fluxPulled(to, p.uploadImage(to, catalogArchive(t, "configs/orchard/catalog.yaml", text)), nil)
	}
	check := func(step string) string {
		t.Helper()
		cs := p.settle()
		if got := p.condition(); !strings.HasPrefix(got, "True Succeeded: ") {
			t.Fatalf("%s: Pushed is %s", step, got)
		}
		digest, manifest := p.tagged("latest")
		if cs.Status.Push == nil || !strings.HasSuffix(cs.Status.Push.URL, "@"+digest) {
			t.Errorf("%s: status.push is %+v, and the tag %s", step, cs.Status.Push, digest)
		}
		if _, named := manifest.Annotations[v1alpha1.RevisionAnnotation]; named != (cs.Spec.Push.Catalog == nil) {
			t.Errorf("%s: the manifest has the annotations %v", step, manifest.Annotations)
		}
		if cs.Spec.Push.Catalog == nil {
			return digest
		}
		image := fmt.Sprintf("ref: %s@%s\n", strings.TrimPrefix(cs.Spec.Push.URL, "oci://"), digest)
		if !p.publishes(image) {
			t.Errorf("%s: the artifact names another image than %s", step, image)
		}
		return digest
	}
	upload(packageText("orchard", "1.0.0"))
	p.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources[0].Format = v1alpha1.FormatFileBased
		cs.Spec.Push.Type, cs.Spec.Safeguards.OnVersionRemoval = v1alpha1.PushCatalogImage, v1alpha1.SafeguardPublish
	})
	check("without a catalog")
	p.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Push.Catalog = &v1alpha1.PushCatalog{Kind: v1alpha1.PushClusterCatalog}
	})
	first := check("with a catalog")
	upload(packageText("orchard", "1.1.0"))
	if second := check("the next catalog"); second == first {
		t.Error("other packages have the same image")
	}
	p.restart()
	upload(packageText("orchard", "1.2.0"))
	check("after a restart")
	p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push.Catalog = nil })
	check("without a catalog again")
}

// The tag follows the images of all published revisions, also of one whose push ended after the next one was published, and
// of one that set only the first of the tags.
func TestTheTagOfImagesWhosePushesOverlap(t *testing.T) {
	p := newPushing(t)
	to := p.repositoryAt(p.front.host())
	publish := func(version string) {
		p.fluxPulled(to, p.uploadImage(to, catalogArchive(t, "configs/orchard/catalog.yaml", packageText("orchard", version))), nil)
		p.reconcile("kkp")
	}
	p.edit(func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources[0].Format = v1alpha1.FormatFileBased
		cs.Spec.Push.Type, cs.Spec.Safeguards.OnVersionRemoval = v1alpha1.PushCatalogImage, v1alpha1.SafeguardPublish
		cs.Spec.Push.Catalog = &v1alpha1.PushCatalog{Kind: v1alpha1.PushClusterCatalog}
	})
	publish("1.0.0")
	p.settle()
	check := func(step string) {
		t.Helper()
		p.settle()
		if got := p.condition(); !strings.HasPrefix(got, "True Succeeded: ") {
			t.Fatalf("%s: Pushed is %s", step, got)
		}
	}
	publish("1.1.0")
	p.push()
	publish("1.2.0") // before the status has the push of 1.1.0
	check("a push that the status does not have")

	p.front.does(at("/manifests/latest", func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPut && status(http.StatusInternalServerError)(w, r)
	}))
	publish("1.3.0")
	p.settle()
	if got := p.condition(); !strings.HasPrefix(got, "False PushFailed: ") {
		t.Fatalf("Pushed is %s", got)
	}
	p.front.does(nil)
	publish("1.4.0")
	check("a push of one tag")
	stable, _ := p.tagged("stable")
	if latest, _ := p.tagged("latest"); latest != stable {
		t.Errorf("latest is %s, and stable %s", latest, stable)
	}
}

// While a render is held, the tag stays on the image that the published artifact names, also after an edit of the catalog.
func TestTheTagOfAHeldRenderWhoseCatalogIsEdited(t *testing.T) {
	catalog := &v1alpha1.PushCatalog{Kind: v1alpha1.PushClusterCatalog}
	for _, test := range []struct {
		name          string
		before, after *v1alpha1.PushCatalog
	}{{"removed", catalog, nil}, {"added", nil, catalog}} {
		t.Run(test.name, func(t *testing.T) {
			p := newPushing(t)
			to := p.repositoryAt(p.front.host())
			upload := func(version string) {
				p.fluxPulled(to, p.uploadImage(to, catalogArchive(t, "configs/orchard/catalog.yaml", packageText("orchard", version))), nil)
			}
			upload("1.0.0")
			p.edit(func(cs *v1alpha1.CatalogSelection) {
				cs.Spec.Sources[0].Format, cs.Spec.Safeguards.OnVersionRemoval = v1alpha1.FormatFileBased, v1alpha1.SafeguardHold
				cs.Spec.Push.Type, cs.Spec.Push.Catalog = v1alpha1.PushCatalogImage, test.before
			})
			p.settle()
			before, _ := p.tagged("latest")
			upload("2.0.0")
			p.settle()
			p.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Push.Catalog = test.after })
			cs := p.settle()
			p.equal("conditions", conditionsOf(cs), []string{"Held=True Stranded", "Pushed=True Succeeded", "Ready=True Succeeded"})
			if after, _ := p.tagged("latest"); after != before {
				t.Errorf("latest moved from %s to %s", before, after)
			}
		})
	}
}

// publishes reports whether a file of the published artifact has a text.
func (p *pushing) publishes(text string) bool {
	p.Helper()
	files, err := archive.Read(p.Context(), bytes.NewReader(p.download(p.announced("kkp"))), archive.Limits{})
	if err != nil {
		p.Fatal(err)
	}
	for _, path := range files.Paths() {
		if content, _ := files.Content(path); strings.Contains(string(content), text) {
			return true
		}
	}
	return false
}
