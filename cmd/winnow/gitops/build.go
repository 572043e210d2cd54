package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	flux "github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
)

// maxBuild is how long one build may take.
const maxBuild = time.Minute

var errSlow = errors.New("it takes longer than " + maxBuild.String())

// originAnnotation is where kustomize notes which file an object is from.
const originAnnotation = "config.kubernetes.io/origin"

// builder builds Kustomizations, each state once.
type builder struct {
	done map[string]built
	// stuck says that a build has not ended in time. kustomize cannot be stopped, and builds one after
	// the other.
	stuck bool
	// limit is how long one may take, and kustomize builds.
	limit     time.Duration
	kustomize func(filesys.FileSystem, string) (resmap.ResMap, error)
}

func newBuilder() *builder {
	return &builder{done: map[string]built{}, limit: maxBuild, kustomize: runKustomize}
}

type built struct {
	objects []Object
	err     error
}

// build returns what a Kustomization applies of a directory, with its variables. key is that of
// everything that the build depends on.
func (b *builder) build(ctx context.Context, key string, c *closure, dir string, k *kustomization, vars *variables) ([]Object, error) {
	if found, known := b.done[key]; known {
		return found.objects, found.err
	}
	objects, err := b.fresh(ctx, c, dir, k, vars)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	b.done[key] = built{objects, err}
	return objects, err
}

func (b *builder) fresh(ctx context.Context, c *closure, dir string, k *kustomization, vars *variables) ([]Object, error) {
	if c.blocked != nil {
		return nil, c.blocked
	}
	if !c.tree.isDir(dir) {
		return nil, fmt.Errorf("its path %s is not in %s", dir, short(c.tree.commit))
	}
	edited, err := manifest(c, dir, k)
	if err != nil {
		return nil, errors.New(relative(err.Error()))
	}
	resources, err := b.run(ctx, &fileSystem{tree: c.tree, edited: edited}, path.Join(root, dir))
	if err != nil {
		return nil, errors.New(relative(err.Error()))
	}
	var objects []Object
	for _, r := range resources.Resources() {
		object, err := newObject(r, dir, vars)
		if err != nil {
			return nil, err
		}
		if matters(object.Unstructured) {
			if object.isEncrypted() && object.group() != "" {
				object.Unknown = append(object.Unknown, object.GetKind()+" "+object.GetName()+" is encrypted by SOPS")
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// run builds, and stops to wait for what takes too long.
func (b *builder) run(ctx context.Context, files *fileSystem, dir string) (resmap.ResMap, error) {
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

// relative takes the place of the tree, and of the directory of the generator, out of a message.
func relative(message string) string {
	return plaintext.Line(strings.ReplaceAll(strings.ReplaceAll(message, root+"/", ""), root, "."))
}

// manifest has Flux write the kustomization file of a directory: what is there, or a list of its files,
// with what the Kustomization adds. It returns all files that are not as in the tree.
func manifest(c *closure, dir string, k *kustomization) (map[string][]byte, error) {
	temporary, err := os.MkdirTemp("", "winnow-kustomization-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	temporary, err = filepath.EvalSymlinks(temporary)
	if err != nil {
		return nil, err
	}
	if err := lay(c, dir, temporary); err != nil {
		return nil, err
	}
	object, err := prepared(c.tree, dir, k)
	if err != nil {
		return nil, err
	}
	content, file, _, err := flux.NewGenerator(temporary, *object).GenerateManifest(temporary)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), temporary, dir))
	}
	if err := checkLocal(content); err != nil {
		return nil, err
	}
	edited := map[string][]byte{path.Join(dir, filepath.Base(file)): content}
	for name, content := range c.edited {
		if edited[name] == nil {
			edited[name] = content
		}
	}
	return edited, nil
}

// checkLocal refuses what kustomize would fetch. The closure has found all of it before.
func checkLocal(content []byte) error {
	k, err := parseKustomization(content)
	if err != nil {
		return err
	}
	for _, e := range entries(k) {
		if isRemote(e.value) && !isDocument(e.value) {
			return fmt.Errorf("%s is not in this repository, and nothing is fetched", e.value)
		}
	}
	return nil
}

// lay puts into a directory what Flux looks at to write a kustomization file: the one that is there, or
// all YAML files, and the names of the kustomization files below.
func lay(c *closure, dir, temporary string) error {
	if file := kustomizationFile(c.tree, dir); file != "" {
		content, edited := c.edited[file]
		if !edited {
			var err error
			if content, err = c.tree.read(file); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(temporary, path.Base(file)), content, 0o600)
	}
	return layFiles(c, dir, dir, temporary)
}

func layFiles(c *closure, top, dir, temporary string) error {
	for _, name := range c.tree.dirs[dir] {
		child := path.Join(dir, name)
		target := filepath.Join(temporary, filepath.FromSlash(strings.TrimPrefix(child, strings.TrimPrefix(top+"/", "./"))))
		var err error
		switch {
		case c.tree.isDir(child) && kustomizationFile(c.tree, child) != "":
			err = writeAt(filepath.Join(target, konfig.DefaultKustomizationFileName()), nil)
		case c.tree.isDir(child):
			err = layFiles(c, top, child, temporary)
		case isYAML(child):
			var content []byte
			if content, err = c.tree.read(child); err == nil {
				err = checkAliases(content)
			}
			if err == nil {
				err = writeAt(target, content)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeAt(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o600)
}

// prepared is the Kustomization as the generator takes it: with the components that are there, and a
// note in each object of its file.
func prepared(t *tree, dir string, k *kustomization) (*unstructured.Unstructured, error) {
	object := k.object.DeepCopy()
	components := k.components(t, dir)
	unstructured.RemoveNestedField(object.Object, "spec", "ignoreMissingComponents")
	if len(components) > 0 {
		if err := unstructured.SetNestedStringSlice(object.Object, components, "spec", "components"); err != nil {
			return nil, err
		}
	} else {
		unstructured.RemoveNestedField(object.Object, "spec", "components")
	}
	return object, unstructured.SetNestedStringSlice(object.Object, []string{kustypes.OriginAnnotations}, "spec", "buildMetadata")
}

// components are those of the spec that are not left out because they are missing.
func (k *kustomization) components(t *tree, dir string) []string {
	var found []string
	for _, component := range k.spec.Components {
		if !k.spec.IgnoreMissingComponents || t.exists(path.Join(dir, component)) {
			found = append(found, component)
		}
	}
	return found
}

// newObject takes an object out of a build of the directory, and replaces the variables in it.
func newObject(r *resource.Resource, dir string, vars *variables) (Object, error) {
	annotations := r.GetAnnotations()
	var origin struct {
		Path string `json:"path"`
	}
	_ = yaml.Unmarshal([]byte(annotations[originAnnotation]), &origin) // kustomize wrote it
	delete(annotations, originAnnotation)
	if err := r.SetAnnotations(annotations); err != nil {
		return Object{}, err
	}
	object := Object{Unstructured: &unstructured.Unstructured{}, File: path.Join(dir, origin.Path)}
	content, err := r.AsYAML()
	if err != nil {
		return Object{}, err
	}
	if !isDisabled(r) {
		if content, object.Unknown, object.Hidden, err = vars.substitute(content); err != nil {
			return Object{}, fmt.Errorf("replacing the variables of %s %s: %w", r.GetKind(), r.GetName(), err)
		}
	}
	return object, yaml.Unmarshal(content, &object.Object)
}
