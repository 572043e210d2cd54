// SPDX-License-Identifier: Apache-2.0

package building

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/kustomized"
)

// maxBuild bounds the time of one build.
const maxBuild = time.Minute

var errSlow = errors.New("it takes longer than " + maxBuild.String())

// originAnnotation is the annotation in which kustomize records the file of an object.
const originAnnotation = "config.kubernetes.io/origin"

// Builder builds Kustomizations and caches the results by their inputs. It is not safe for concurrent use.
type Builder struct {
	done map[string]built
	// stuck reports that a build has exceeded the limit. kustomize cannot be cancelled and serializes
	// builds, so no other build can start.
	stuck bool
	// limit bounds the time of one build, and kustomize runs it.
	limit     time.Duration
	kustomize func(filesys.FileSystem, string) (resmap.ResMap, error)
}

// NewBuilder returns a Builder without results.
func NewBuilder() *Builder {
	return &Builder{done: map[string]built{}, limit: maxBuild, kustomize: kustomized.Directory}
}

type built struct {
	objects []manifest.Object
	err     error
	// read maps the files that were read, and are in no closure before, to the identifiers of their blobs.
	read map[string]string
}

// Build returns the objects that a Kustomization applies from a directory, with its variables replaced. key
// is a digest of all inputs of the build. Build adds to the closure what kustomize has read beside these.
func (b *Builder) Build(ctx context.Context, key string, c *inputs.Closure, dir string, k *manifest.Kustomization, vars *Variables) ([]manifest.Object, error) {
	found, known := b.done[key]
	for name, id := range found.read {
		known = c.File(name) == id && known
	}
	if known {
		return found.objects, found.err
	}
	predicted := maps.Clone(c.Files)
	objects, err := b.buildUncached(ctx, c, dir, k, vars)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	read := maps.Clone(c.Files)
	maps.DeleteFunc(read, func(name, _ string) bool { _, known := predicted[name]; return known })
	b.done[key] = built{objects, err, read}
	return objects, err
}

func (b *Builder) buildUncached(ctx context.Context, c *inputs.Closure, dir string, k *manifest.Kustomization, vars *Variables) ([]manifest.Object, error) {
	if c.Blocked != nil {
		return nil, c.Blocked
	}
	if commit := c.Tree.Module(dir); commit != "" {
		return nil, fmt.Errorf("its path %s is in a submodule at %s, whose files are not read here", dir, repository.Short(commit))
	}
	if !c.Tree.IsDir(dir) {
		return nil, fmt.Errorf("its path %s is not in %s", dir, repository.Short(c.Tree.Commit))
	}
	edited, err := generateKustomization(c, dir, k)
	if err != nil {
		return nil, errors.New(relative(err.Error()))
	}
	files := &fileSystem{tree: c.Tree, edited: edited, read: map[string]bool{}}
	resources, err := b.run(ctx, files, path.Join(root, dir))
	if errors.Is(err, errSlow) { // it may still read
		return nil, err
	}
	for name := range files.read {
		c.File(name)
	}
	if err != nil {
		return nil, errors.New(relative(err.Error()))
	}
	var objects []manifest.Object
	for _, r := range resources.Resources() {
		object, err := newObject(r, dir, vars)
		if err != nil {
			return nil, err
		}
		if object.Unstructured != nil && manifest.IsRelevant(object.Unstructured) {
			if object.IsEncrypted() && object.Group() != "" {
				object.Unknown = append(object.Unknown, object.GetKind()+" "+object.GetName()+" is encrypted by SOPS")
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// run builds a directory with kustomize. It returns errSlow when the limit is exceeded.
func (b *Builder) run(ctx context.Context, files *fileSystem, dir string) (resmap.ResMap, error) {
	if b.stuck {
		return nil, errors.New("the build of another Kustomization has not ended")
	}
	limited, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	files.ctx = limited
	type result struct {
		resources resmap.ResMap
		err       error
	}
	ended := make(chan result, 1)
	go func() {
		resources, err := b.kustomize(files, dir)
		ended <- result{resources, err}
	}()
	select {
	case r := <-ended:
		if limited.Err() != nil && ctx.Err() == nil {
			return nil, errSlow
		}
		return r.resources, r.err
	case <-limited.Done():
		b.stuck = true
		return nil, errSlow
	}
}

// relative removes the root of the file system from the paths in a message.
func relative(message string) string {
	return plaintext.Line(strings.ReplaceAll(strings.ReplaceAll(message, root+"/", ""), root, "."))
}

// newObject converts an object from the build of dir and replaces its variables. Of an object that matters to nobody it may return none.
func newObject(r *resource.Resource, dir string, vars *Variables) (manifest.Object, error) {
	annotations := r.GetAnnotations()
	var origin struct {
		Path string `json:"path"`
	}
	_ = yaml.Unmarshal([]byte(annotations[originAnnotation]), &origin) // kustomize writes valid YAML
	delete(annotations, originAnnotation)
	if err := r.SetAnnotations(annotations); err != nil {
		return manifest.Object{}, err
	}
	object := manifest.Object{Unstructured: &unstructured.Unstructured{}, File: path.Join(dir, origin.Path)}
	encoded, err := r.MarshalJSON()
	if err != nil {
		return manifest.Object{}, err
	}
	if isDisabled(r) || !vars.mayReplace(encoded) {
		object.SetAPIVersion(r.GetApiVersion())
		object.SetKind(r.GetKind())
		if !manifest.IsRelevant(object.Unstructured) {
			return manifest.Object{}, nil
		}
		return object, json.Unmarshal(encoded, &object.Object)
	}
	content, err := yaml.JSONToYAML(encoded)
	if err != nil {
		return manifest.Object{}, err
	}
	if content, object.Unknown, object.Hidden, err = vars.substitute(content); err != nil {
		return manifest.Object{}, fmt.Errorf("replacing the variables of %s %s: %w", r.GetKind(), r.GetName(), err)
	}
	return object, yaml.Unmarshal(content, &object.Object)
}
