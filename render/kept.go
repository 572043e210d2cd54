// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/patching"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// File is a file of an artifact.
type File struct {
	Path    string `json:"path"`
	Content []byte `json:"content"`
}

// FilesOf returns the files of objects of an artifact, and of the objects that belong to them. of maps the keys of the objects to whether
// all these files get the annotation with which Flux forgets an object. found has the keys that the artifact has. A placeholder of an
// earlier release does not count: Flux applies nothing of it.
func FilesOf(ctx context.Context, r io.Reader, of map[safeguard.Key]bool) (files []File, found map[safeguard.Key]bool, err error) {
	a, err := parseArtifact(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	found = map[safeguard.Key]bool{}
	forgotten := func(object backend.Object) bool { return of[installation.KeyOf(object)] }
	moves := each.Where(a.objects, forgotten)
	add := func(path string, object backend.Object) error {
		if forgotten(object) || backend.Belongs(object, moves) {
			object.Annotate(map[string]string{pruneAnnotation: "disabled"}) // so that Flux does not delete it
		}
		content, err := object.YAML()
		files = append(files, File{Path: path, Content: content})
		return err
	}
	stays := func(object backend.Object) bool {
		key := installation.KeyOf(object)
		if _, ok := of[key]; ok && object.GetAnnotations()[reconcileAnnotation] != "disabled" {
			found[key] = true
		}
		return found[key]
	}
	for _, d := range a.documents {
		content, err := yamlnode.Mapping(d.content)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the artifact: %s: %w", d.name, err)
		}
		object := backend.Object{Unstructured: &unstructured.Unstructured{Object: content}}
		if stays(object) {
			if err := add(fileOf(d.name), object); err != nil {
				return nil, nil, err
			}
		}
	}
	mains := each.Where(a.objects, stays)
	for _, object := range a.objects {
		if stays(object) || backend.Belongs(object, mains) {
			if err := add(installation.File(installation.KeyOf(object)), object); err != nil {
				return nil, nil, err
			}
		}
	}
	return files, found, nil
}

// Keeping returns the artifact with more files, which an earlier artifact had. It leaves out files that the artifact has itself, and
// returns the artifact itself if none is left. The safeguards compare neither. The error is about patches that do not fit the files.
func (r *Result) Keeping(ctx context.Context, files []File) (*Result, error) {
	unsealed, err := seal.Removed(r.Tree)
	if err != nil {
		return nil, err
	}
	all, err := unsealed.Copy(func(path string) (string, bool) { return path, path != tree.KustomizationFile }, nil)
	if err != nil {
		return nil, err
	}
	k := r.kustomization
	k.Resources = objectFiles(all)
	added := false
	for _, f := range files {
		if slices.Contains(k.Resources, f.Path) {
			continue
		}
		k.Resources, added = append(k.Resources, f.Path), true
		if err := all.Add(f.Path, f.Content); err != nil {
			return nil, fmt.Errorf("keeping what may not leave yet: %w", err)
		}
	}
	if !added {
		return r, nil
	}
	if len(k.Patches) > 0 {
		split, err := patching.NewSplit(ctx, all, objectFiles(all), k.Patches)
		if err == nil {
			_, err = split.Build(ctx, k)
		}
		if err != nil {
			return nil, fmt.Errorf("spec.patches do not fit what may not leave yet: %w", err)
		}
	}
	content, err := k.Marshal()
	if err == nil {
		err = all.Add(tree.KustomizationFile, content)
	}
	if err == nil {
		err = seal.Add(all)
	}
	if err != nil {
		return nil, err
	}
	kept := *r
	kept.Tree, kept.Revision = all, RevisionPrefix+all.Digest()
	return &kept, nil
}
