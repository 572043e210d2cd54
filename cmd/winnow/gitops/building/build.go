// SPDX-License-Identifier: Apache-2.0

package building

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/kustomized"
)

// maxBuild bounds the time of one build.
const maxBuild = time.Minute

var errSlow = errors.New("it takes longer than " + maxBuild.String())

// Builder builds Kustomizations and caches the results by their inputs. It is not safe for concurrent use.
type Builder struct {
	// done has builds with their variables, and made those without, which Kustomizations with other variables share.
	done map[string]result[manifest.Object]
	made map[string]result[*resource]
	// stuck reports that a build has exceeded the limit. kustomize cannot be cancelled and serializes
	// builds, so no other build can start.
	stuck bool
	// limit bounds the time of one build, and kustomize runs it.
	limit     time.Duration
	kustomize func(filesys.FileSystem, string) (resmap.ResMap, error)
}

// NewBuilder returns a Builder without results.
func NewBuilder() *Builder {
	return &Builder{
		done: map[string]result[manifest.Object]{}, made: map[string]result[*resource]{}, limit: maxBuild, kustomize: kustomized.Directory,
	}
}

type result[T any] struct {
	of  []T
	err error
	// read maps the files that were read, and are in no closure before, to the identifiers of their blobs.
	read map[string]string
}

// cached returns the result of make, which it calls once for each key. make adds to the closure what it reads.
func cached[T any](ctx context.Context, results map[string]result[T], key string, c *inputs.Closure, make func() ([]T, error)) ([]T, error) {
	found, known := results[key]
	for name, id := range found.read {
		known = c.File(name) == id && known
	}
	if known {
		return found.of, found.err
	}
	predicted := maps.Clone(c.Files)
	of, err := make()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	read := maps.Clone(c.Files)
	maps.DeleteFunc(read, func(name, _ string) bool { _, known := predicted[name]; return known })
	results[key] = result[T]{of, err, read}
	return of, err
}

// Build returns the objects that a Kustomization applies from a directory, with its variables replaced. key
// is a digest of all inputs of the build. Build adds to the closure what kustomize has read beside these.
func (b *Builder) Build(ctx context.Context, key string, c *inputs.Closure, dir string, k *manifest.Kustomization, vars *Variables) ([]manifest.Object, error) {
	return cached(ctx, b.done, key, c, func() ([]manifest.Object, error) {
		switch {
		case c.Blocked != nil:
			return nil, c.Blocked
		case c.Tree.Module(dir) != "":
			return nil, fmt.Errorf("its path %s is in a submodule at %s, whose files are not read here", dir, repository.Short(c.Tree.Module(dir)))
		case !c.Tree.IsDir(dir):
			return nil, fmt.Errorf("its path %s is not in %s", dir, repository.Short(c.Tree.Commit))
		}
		built, err := cached(ctx, b.made, inputs.Digest(dir, k.Built(), c.Digest()), c, func() ([]*resource, error) { return b.build(ctx, c, dir, k) })
		if err != nil {
			return nil, err
		}
		var objects []manifest.Object
		for _, r := range built {
			object, err := r.with(vars)
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
	})
}

// build runs kustomize.
func (b *Builder) build(ctx context.Context, c *inputs.Closure, dir string, k *manifest.Kustomization) ([]*resource, error) {
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
	var built []*resource
	for _, r := range resources.Resources() {
		one, err := newResource(r, dir)
		if err != nil {
			return nil, err
		}
		built = append(built, one)
	}
	return built, nil
}

// run builds a directory with kustomize. It returns errSlow when the limit is exceeded.
func (b *Builder) run(ctx context.Context, files *fileSystem, dir string) (resmap.ResMap, error) {
	if b.stuck {
		return nil, errors.New("the build of another Kustomization has not ended")
	}
	limited, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	files.ctx = limited
	type built struct {
		resources resmap.ResMap
		err       error
	}
	ended := make(chan built, 1)
	go func() {
		resources, err := b.kustomize(files, dir)
		ended <- built{resources, err}
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
