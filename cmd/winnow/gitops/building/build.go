// SPDX-License-Identifier: Apache-2.0

package building

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/resmap"
	kustomize "sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/inputs"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/memo"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/parallel"
)

// maxBuild bounds the time of one build.
const maxBuild = time.Minute

var errSlow = errors.New("it takes longer than " + maxBuild.String())

// Builder builds Kustomizations. It is not safe for concurrent use.
type Builder struct {
	// built has the builds by their inputs, and replaced their objects by the variables: many Kustomizations differ in these alone.
	built    map[string]*built
	replaced memo.Memo
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
		built: map[string]*built{}, replaced: memo.Memo{}, limit: maxBuild, kustomize: kustomized.Directory,
	}
}

// built is what kustomize builds of a directory.
type built struct {
	resources []*resource
	err       error
	// read maps the files that were read, and are in no closure before, to the identifiers of their blobs.
	read map[string]string
}

// replacement is a build with the digest of its variables, and with what is replaced without any.
type replacement struct {
	of                *built
	vars              string
	postBuild, always bool
}

// Build returns the objects that a Kustomization applies from a directory, with its variables replaced. It adds to the closure what
// kustomize has read beside the files in it. The caller must not change the objects.
func (b *Builder) Build(ctx context.Context, c *inputs.Closure, dir string, k *manifest.Kustomization, vars *Variables) ([]manifest.Object, error) {
	if c.Blocked != nil {
		return nil, c.Blocked
	}
	if commit := c.Tree.Module(dir); commit != "" {
		return nil, fmt.Errorf("its path %s is in a submodule at %s, whose files are not read here", dir, repository.Short(commit))
	}
	if !c.Tree.IsDir(dir) {
		return nil, fmt.Errorf("its path %s is not in %s", dir, repository.Short(c.Tree.Commit))
	}
	found, err := b.find(ctx, c, dir, k)
	if err != nil {
		return nil, err
	}
	return memo.Of(ctx, b.replaced, replacement{found, vars.Digest(), vars.postBuild, vars.always}, func() ([]manifest.Object, error) {
		return within(ctx, b, func(context.Context) ([]manifest.Object, error) { return found.with(vars) })
	})
}

// find returns what kustomize builds of a directory, which it does once for the same inputs.
func (b *Builder) find(ctx context.Context, c *inputs.Closure, dir string, k *manifest.Kustomization) (*built, error) {
	key := inputs.Digest(dir, k.Built(), c.Digest())
	if found, known := b.built[key]; known {
		for name, id := range found.read {
			known = c.File(name) == id && known
		}
		if known {
			return found, found.err
		}
	}
	predicted, found := maps.Clone(c.Files), &built{}
	found.resources, found.err = b.build(ctx, c, dir, k)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	found.read = maps.Clone(c.Files)
	maps.DeleteFunc(found.read, func(name, _ string) bool { _, known := predicted[name]; return known })
	b.built[key] = found
	return found, found.err
}

// with returns the objects that matter, with variables. Flux refuses objects that have one name after it has replaced one of them.
func (b *built) with(vars *Variables) ([]manifest.Object, error) {
	var objects []manifest.Object
	fixed := map[[4]string]bool{}
	for _, r := range b.resources {
		object, err := r.with(vars)
		if err != nil {
			return nil, err
		}
		if id := r.id(object); vars.postBuild {
			if before, found := fixed[id]; found && (!before || !r.fixed) {
				return nil, fmt.Errorf("replacing the variables of %s %s: several objects have the name %s then", r.kind, r.name, id[3])
			}
			fixed[id] = r.fixed
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
	var all []*resource
	for _, r := range resources.Resources() {
		one, err := newResource(r, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// run builds a directory with kustomize. It returns errSlow when the limit is exceeded.
func (b *Builder) run(ctx context.Context, files *fileSystem, dir string) (resmap.ResMap, error) {
	return within(ctx, b, func(limited context.Context) (resmap.ResMap, error) {
		files.ctx = limited
		return b.kustomize(files, dir)
	})
}

// within does work of other libraries, which cannot be cancelled, in the limit of a builder. It returns errSlow when the limit is
// exceeded, and panics as errors.
func within[T any](ctx context.Context, b *Builder, work func(context.Context) (T, error)) (T, error) {
	var none T
	if b.stuck {
		return none, errors.New("the build of another Kustomization has not ended")
	}
	limited, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	ended := make(chan result, 1)
	go func() {
		var r result
		defer func() { ended <- r }()
		defer parallel.RecoverAs("recovered from panic", &r.err)
		r.value, r.err = work(limited)
	}()
	select {
	case r := <-ended:
		if limited.Err() != nil && ctx.Err() == nil {
			return none, errSlow
		}
		return r.value, r.err
	case <-limited.Done():
		b.stuck = true
		return none, errSlow
	}
}

// relative removes the root of the file system from the paths in a message.
func relative(message string) string {
	return plaintext.Line(strings.ReplaceAll(strings.ReplaceAll(message, root+"/", ""), root, "."))
}

// originAnnotation is the annotation in which kustomize records the file of an object.
const originAnnotation = "config.kubernetes.io/origin"

// resource is an object of a build whose variables are not replaced.
type resource struct {
	apiVersion, kind, namespace, name string
	// file that has it, and encoded is the object in JSON.
	file    string
	encoded []byte
	// fixed reports that Flux does not replace its variables, and plain is the object without a replacement, once it was decoded.
	fixed bool
	plain *unstructured.Unstructured
}

// newResource takes an object out of the build of dir.
func newResource(r *kustomize.Resource, dir string) (*resource, error) {
	annotations := r.GetAnnotations()
	var origin struct {
		Path string `json:"path"`
	}
	_ = dialect.Unmarshal([]byte(annotations[originAnnotation]), &origin) // kustomize writes valid YAML
	delete(annotations, originAnnotation)
	if err := r.SetAnnotations(annotations); err != nil {
		return nil, err
	}
	encoded, err := r.MarshalJSON()
	return &resource{
		apiVersion: r.GetApiVersion(), kind: r.GetKind(), namespace: r.GetNamespace(), name: r.GetName(),
		file: path.Join(dir, origin.Path), encoded: encoded, fixed: isDisabled(r),
	}, err
}

// id returns what identifies the object with variables, which is none where it matters to nobody.
func (r *resource) id(object manifest.Object) [4]string {
	if object.Unstructured == nil {
		return [4]string{r.apiVersion, r.kind, cmp.Or(r.namespace, "default"), r.name}
	}
	return [4]string{object.GetAPIVersion(), object.GetKind(), cmp.Or(object.GetNamespace(), "default"), object.GetName()}
}

// with returns the object with variables. An object that matters to nobody may be none.
func (r *resource) with(vars *Variables) (manifest.Object, error) {
	object := manifest.Object{Unstructured: &unstructured.Unstructured{}, Origin: documents.Origin{File: r.file}}
	if r.fixed || !vars.mayReplace(r.encoded) {
		object.SetAPIVersion(r.apiVersion)
		object.SetKind(r.kind)
		if !manifest.IsRelevant(object.Unstructured) {
			return manifest.Object{}, nil
		}
		if r.plain == nil {
			if err := utiljson.Unmarshal(r.encoded, &object.Object); err != nil {
				return manifest.Object{}, err
			}
			r.plain = object.Unstructured
		}
		object.Unstructured = r.plain
		return object, nil
	}
	content, err := yaml.JSONToYAML(r.encoded)
	if err != nil {
		return manifest.Object{}, err
	}
	if content, object.Unknown, object.Hidden, err = vars.substitute(content); err != nil {
		return manifest.Object{}, fmt.Errorf("replacing the variables of %s %s: %w", r.kind, r.name, err)
	}
	object.Object, err = dialect.Object(content, false)
	return object, err
}
