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

// programs lists the programs that a release has images of. The first one is what the manifests and the chart install.
func programs() []string { return []string{"winnow-controller", "winnow"} }

// oci pushes the images and the chart, signs them, and renders the manifests, which name an image by its digest.
func oci(ctx context.Context, o *options) error {
	var references []string
	for _, program := range programs() {
		image, err := o.image(ctx, program)
		if err != nil {
			return err
		}
		references = append(references, image)
	}
	if err := o.manifests(ctx, references[0]); err != nil {
		return err
	}
	chart, err := o.chart(ctx, references[0])
	if err != nil {
		return err
	}
	if err := o.signReference(ctx, chart, ""); err != nil {
		return err
	}
	references = append(references, chart)
	return os.WriteFile(o.file(referencesFile), []byte(strings.Join(references, "\n")+"\n"), 0o644)
}

// image pushes the image of a program, signs it, and attests its SBOM. It returns the image by digest.
func (o *options) image(ctx context.Context, program string) (string, error) {
	image, err := o.build(ctx, "image", append(o.imagePlatforms(),
		"IMAGE_PROGRAM="+program, "IMAGE_REPO="+o.registry+"/"+program, "IMAGE_TAG="+o.version)...)
	if err != nil {
		return "", err
	}
	sbom := program + ".spdx.json"
	if err := copyFile(filepath.Join(o.bin, sbom), o.file(sbom)); err != nil {
		return "", err
	}
	return image, o.signReference(ctx, image, o.file(sbom))
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

// references returns the images, and the chart, of the release, by digest.
func (o *options) references() (images []string, chart string, err error) {
	content, err := os.ReadFile(o.file(referencesFile))
	if err != nil {
		return nil, "", err
	}
	lines := strings.Fields(string(content))
	if len(lines) != len(programs())+1 {
		return nil, "", fmt.Errorf("%s has %d references, want those of %s and the chart", referencesFile, len(lines), strings.Join(programs(), ", "))
	}
	return lines[:len(lines)-1], lines[len(lines)-1], nil
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
