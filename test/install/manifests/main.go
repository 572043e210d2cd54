// SPDX-License-Identifier: Apache-2.0

// Command manifests renders the kustomization that installs Winnow to one file, which names the image that it is given:
// `make release-manifests`. It knows neither how images are built nor whether this one exists.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"oras.land/oras-go/v2/registry"
	"sigs.k8s.io/kustomize/api/filters/imagetag"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// placeholder is the name of the image in config/manager.
const placeholder = "winnow-controller"

func main() {
	image := flag.String("image", "", "the image of winnow-controller, with a tag or a digest")
	out := flag.String("o", "", "the file to write")
	flag.Parse()
	if err := run(*image, flag.Arg(0), *out); err != nil {
		fmt.Fprintf(os.Stderr, "release-manifests: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(*out)
}

func run(image, kustomization, out string) error {
	manifests, err := render(image, kustomization)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	// Renamed, so that a run that is interrupted leaves no part of the manifests to be applied.
	if err := os.WriteFile(out+".new", manifests, 0o644); err != nil {
		return err
	}
	return os.Rename(out+".new", out)
}

// render builds a kustomization, and sets the image of the controller in the result.
func render(image, kustomization string) ([]byte, error) {
	setting, err := parse(image)
	if err != nil {
		return nil, err
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), kustomization)
	if err != nil {
		return nil, err
	}
	if err := resources.ApplyFilter(imagetag.LegacyFilter{ImageTag: setting}); err != nil {
		return nil, fmt.Errorf("setting the image: %w", err)
	}
	manifests, err := resources.AsYaml()
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(manifests), " image: "+image+"\n") {
		return nil, fmt.Errorf("%s has no container with the image %s: did images in config/manager/kustomization.yaml change?", kustomization, placeholder)
	}
	return append([]byte("# Winnow with "+image+", by make release-manifests.\n"), manifests...), nil
}

// parse takes an image apart.
func parse(image string) (types.Image, error) {
	const hint = "\nset IMAGE=registry.example.com/winnow-controller:v1.0.0\nor with @sha256:... instead of the tag"
	if image == "" {
		return types.Image{}, errors.New("the image is missing" + hint)
	}
	ref, err := registry.ParseReference(image)
	if err != nil {
		return types.Image{}, fmt.Errorf("image %q: %w%s", image, err, hint)
	}
	// Container runtimes take Docker Hub if the first part of a name is not a host.
	if ref.Registry != "localhost" && !strings.ContainsAny(ref.Registry, ".:") || ref.Reference == "" {
		return types.Image{}, fmt.Errorf("image %q: the registry, or the tag or digest, is missing%s", image, hint)
	}
	setting := types.Image{Name: placeholder}
	setting.NewName, setting.Digest, _ = strings.Cut(image, "@")
	if tag := strings.LastIndex(setting.NewName, ":"); tag > strings.LastIndex(setting.NewName, "/") {
		setting.NewName, setting.NewTag = setting.NewName[:tag], setting.NewName[tag+1:]
		// Of a tag beside a digest, ParseReference checks nothing.
		ref.Reference = setting.NewTag
		err = ref.ValidateReferenceAsTag()
	}
	if err != nil {
		return types.Image{}, fmt.Errorf("image %q: %w%s", image, err, hint)
	}
	return setting, nil
}
