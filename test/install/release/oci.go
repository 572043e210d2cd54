// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// installations maps the files of a release to the kustomizations that they are rendered from.
func installations() map[string]string {
	return map[string]string{
		"install.yaml":                         "config/default",
		"install-ha.yaml":                      "config/overlays/ha",
		"install-flux-system.yaml":             "config/overlays/flux-system",
		"install-multitenant.yaml":             "config/overlays/multitenant",
		"install-multitenant-flux-system.yaml": "config/overlays/multitenant-flux-system",
	}
}

// oci pushes the image and the chart, signs both, and renders the manifests, which name the image by its digest.
func oci(ctx context.Context, o *options) error {
	image, err := o.build(ctx, "image", append(o.imagePlatforms(), "IMAGE_REPO="+o.registry+"/winnow-controller", "IMAGE_TAG="+o.version)...)
	if err != nil {
		return err
	}
	const sbom = "winnow-controller.spdx.json"
	if err := copyFile(filepath.Join(o.bin, sbom), o.file(sbom)); err != nil {
		return err
	}
	if err := o.manifests(ctx, image); err != nil {
		return err
	}
	chart, err := o.chart(ctx, image)
	if err != nil {
		return err
	}
	if err := o.signReference(ctx, image, o.file(sbom)); err != nil {
		return err
	}
	if err := o.signReference(ctx, chart, ""); err != nil {
		return err
	}
	return os.WriteFile(o.file(referencesFile), []byte(image+"\n"+chart+"\n"), 0o644)
}

func (o *options) imagePlatforms() []string {
	if o.platforms == "" {
		return nil
	}
	return []string{"IMAGE_PLATFORMS=" + o.platforms}
}

// manifests writes the files that install Winnow with an image, and the definition alone.
func (o *options) manifests(ctx context.Context, image string) error {
	for file, kustomization := range installations() {
		rendered, err := o.build(ctx, "release-manifests", "IMAGE="+image, "MANIFESTS="+kustomization)
		if err != nil {
			return err
		}
		if err := copyFile(rendered, o.file(file)); err != nil {
			return err
		}
	}
	return copyFile("config/crd/bases/catalog.winnow.dev_catalogselections.yaml", o.file("crds.yaml"))
}

// references returns the image and the chart of the release, by digest.
func (o *options) references() (image, chart string, err error) {
	content, err := os.ReadFile(o.file(referencesFile))
	if err != nil {
		return "", "", err
	}
	lines := strings.Fields(string(content))
	if len(lines) != 2 {
		return "", "", fmt.Errorf("%s has %d references, want two", referencesFile, len(lines))
	}
	return lines[0], lines[1], nil
}

// digestOf returns the reference of a tag by digest.
func (o *options) digestOf(ctx context.Context, reference string) (string, error) {
	tag, err := name.NewTag(reference, name.StrictValidation)
	if err != nil {
		return "", err
	}
	descriptor, err := remote.Head(tag, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", reference, err)
	}
	return tag.Context().Name() + "@" + descriptor.Digest.String(), nil
}
