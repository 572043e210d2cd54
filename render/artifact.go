// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/contents"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/installation"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/loading"
	"github.com/winnow-dev/winnow/render/patching"
	"github.com/winnow-dev/winnow/render/safeguard"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/selection"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// ReadArtifact reads what the safeguards compare of an artifact that was rendered before: its definitions, and the main
// objects of its instances, both sorted by name. Their Source is empty: an artifact does not name its sources.
//
// The artifact is untrusted, so its documents are read with the bounds of a catalog's documents. Kustomize
// fetches the URLs that a kustomization.yaml names, so only the inline patches of the artifact's are read,
// and kustomize builds a kustomization.yaml that Winnow writes for them.
func ReadArtifact(ctx context.Context, r io.Reader) ([]safeguard.Definition, error) {
	a, err := parseArtifact(ctx, r)
	if err != nil {
		return nil, err
	}
	defined, mains, err := a.defined(ctx)
	return slices.Concat(defined, mains, contents.Definitions(a.others)), err
}

// artifact is an artifact that was rendered before.
type artifact struct {
	revision  string
	documents []document
	// loaded has the definitions of the documents, objects the objects of instances, and others the contents.
	loaded  *catalog.Catalog
	objects []backend.Object
	others  []selection.Decision
	// written is the kustomization.yaml, which kustomization has parsed. An earlier version of Winnow may have put placeholders into
	// it for objects that Flux keeps as they are.
	written       []byte
	placeholders  bool
	kustomization types.Kustomization
	patches       []kustomize.Patch
}

// placeholders is the file of placeholders.
const placeholders = "placeholders.yaml"

func parseArtifact(ctx context.Context, r io.Reader) (a artifact, err error) {
	files, err := archive.Read(ctx, r, loading.LimitsOf(v1alpha1.FormatFileBased))
	if err != nil {
		return a, fmt.Errorf("reading the artifact: %w", err)
	}
	a.revision = RevisionPrefix + files.Digest()
	if files, err = seal.Removed(files); err != nil {
		return a, err
	}
	if a.kustomization, err = kustomizationOf(files); err != nil {
		return a, err
	}
	a.written, _ = files.Content(tree.KustomizationFile)
	_, a.placeholders = files.Content(placeholders)
	if a.patches, err = patchesOf(a.kustomization); err != nil {
		return a, err
	}
	if a.others, err = contents.Read(ctx, files); err != nil {
		return a, err
	}
	if a.objects, err = readObjects(files); err != nil {
		return a, err
	}
	content := tree.New()
	for _, path := range files.Paths() {
		name, ok := strings.CutPrefix(path, ApplicationsDir+"/")
		if !ok {
			continue
		}
		data, _ := files.Content(path)
		name = strings.TrimSuffix(name, ".yaml")
		a.documents = append(a.documents, document{name: name, content: data})
		if err := content.Add("applications/"+name+"/application.yaml", data); err != nil {
			return a, fmt.Errorf("reading the artifact: %w", err)
		}
	}
	a.loaded = &catalog.Catalog{}
	if len(a.documents) > 0 {
		if a.loaded, err = catalog.Load(ctx, content.FS()); err != nil {
			return a, fmt.Errorf("reading the artifact: %w", err)
		}
	}
	return a, nil
}

// defined returns the definitions and the main objects of instances, both sorted by name.
func (a artifact) defined(ctx context.Context) (definitions, main []safeguard.Definition, err error) {
	if len(a.patches) > 0 {
		return patchedDefinitions(ctx, a.documents, a.objects, a.patches)
	}
	definitions = make([]safeguard.Definition, len(a.loaded.Applications))
	for i, a := range a.loaded.Applications {
		definitions[i] = safeguard.Definition{
			APIVersion: a.APIVersion, Kind: a.Kind, Name: a.Name, Versions: a.Versions,
			Origins: a.Identity.Origins, Identity: a.Identity.Fields,
		}
	}
	return definitions, mains(a.objects, nil), nil
}

// MeasureArtifact reads an artifact, keeps nothing of it, and returns about how many bytes of memory ReadArtifact takes
// for it, besides the memory for a build of its patches.
func MeasureArtifact(ctx context.Context, r io.Reader) (int64, error) {
	var cost catalog.Cost
	var paths, largest int64
	files, err := archive.ReadSome(ctx, r, loading.LimitsOf(v1alpha1.FormatFileBased), func(path string, size int64) bool {
		cost.Add(path, size)
		if paths += int64(len(path)); isText(path) {
			largest = max(largest, size)
		}
		return true
	}, nil)
	if err != nil {
		return 0, fmt.Errorf("reading the artifact: %w", err)
	}
	return cost.Bytes() + paths + int64(files.Len())*loading.EntryBytes + min(largest*parsedBytes, maxParsed), nil
}

const (
	// maxText bounds the kustomization.yaml of an artifact, and the file of an object, in bytes.
	maxText = 16 << 20
	// maxTextValues bounds the values that such a file may have. While it is parsed, a value takes 300 bytes. An object has
	// fewer: yamlnode bounds its nodes, and its texts, which may consist of what begins values.
	maxTextValues = 2*yamlnode.MaxNodes + yamlnode.MaxBytes
	// parsedBytes is what a byte of such a file takes at most while it is parsed, and maxParsed what the file takes.
	parsedBytes, maxParsed = 128, 300 * maxTextValues
)

// checkText refuses a file that would take too much memory while it is parsed. Definitions and contents are bounded by
// their formats.
func checkText(path string, data []byte) error {
	switch {
	case len(data) > maxText:
		return fmt.Errorf("reading the artifact: %s: is larger than %d bytes", path, maxText)
	case yamlnode.MostValues(data) > maxTextValues:
		return fmt.Errorf("reading the artifact: %s: may have more than %d values", path, maxTextValues)
	}
	return nil
}

// isText reports whether checkText is about a file.
func isText(path string) bool {
	return path == tree.KustomizationFile || strings.HasPrefix(path, installation.Dir+"/")
}

// readObjects reads the objects of instances. Their role is unknown.
func readObjects(files *tree.Tree) ([]backend.Object, error) {
	var objects []backend.Object
	for _, path := range files.Paths() {
		if !strings.HasPrefix(path, installation.Dir+"/") {
			continue
		}
		data, _ := files.Content(path)
		if err := checkText(path, data); err != nil {
			return nil, err
		}
		object, err := yamlnode.Mapping(data)
		if err != nil {
			return nil, fmt.Errorf("reading the artifact: %s: %w", path, err)
		}
		objects = append(objects, backend.Object{Unstructured: &unstructured.Unstructured{Object: object}})
	}
	return objects, nil
}

// mains returns the main objects, sorted by the names of their instances. patched has the built objects, nil without
// patches: these may change the release of an instance, but not what it is called.
func mains(objects []backend.Object, patched map[safeguard.Key]kustomized.Object) []safeguard.Definition {
	var all []safeguard.Definition
	built := installation.Patched(objects, patched)
	for i, object := range objects {
		main := installation.MainOf(object.Object)
		if main.Instance == "" {
			continue
		}
		main.Identity, main.Locked = installation.IdentityIn(built[i], built), installation.LockedIn(built[i], built)
		all = append(all, main)
	}
	slices.SortFunc(all, func(a, b safeguard.Definition) int { return cmp.Compare(a.Instance, b.Instance) })
	return all
}

func patchedDefinitions(ctx context.Context, documents []document, objects []backend.Object, patches []kustomize.Patch) (defined, main []safeguard.Definition, err error) {
	if err := patching.CheckWork(len(documents)+len(objects), len(patches)); err != nil {
		return nil, nil, fmt.Errorf("building the artifact: %w", err)
	}
	k := tree.Kustomization{Patches: patches, AllowEmpty: true}
	files, err := assembleWith(documents, objects, k)
	if err != nil {
		return nil, nil, err
	}
	split, err := patching.NewSplit(ctx, files, objectFiles(files), patches)
	if err != nil {
		return nil, nil, unfit(ctx, "documents do not fit each other")
	}
	for i := range patches {
		if split.CheckNamed(i) != nil {
			return nil, nil, unfit(ctx, "patches do not fit its documents")
		}
	}
	if err := patching.CheckGrowth(split.Unpatched, patches); err != nil {
		return nil, nil, fmt.Errorf("building the artifact: %w", err)
	}
	built, err := split.Build(ctx, k)
	if err != nil {
		return nil, nil, unfit(ctx, "patches do not fit its documents")
	}
	if err := patching.CheckObjects(split.Unpatched, built); err != nil {
		return nil, nil, fmt.Errorf("building the artifact: %w", err)
	}
	patched := kustomized.Contents(built.All())
	defined = slices.SortedFunc(maps.Values(kustomized.Definitions(patched)), func(a, b safeguard.Definition) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	return defined, mains(objects, patched), nil
}

// unfit returns the error of a build, or the error of the context if it has ended. Errors of kustomize quote the artifact.
func unfit(ctx context.Context, problem string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("building the artifact: %w", ctx.Err())
	}
	return errors.New("building the artifact: its " + problem)
}

func kustomizationOf(files *tree.Tree) (k types.Kustomization, err error) {
	content, ok := files.Content(tree.KustomizationFile)
	if !ok {
		return k, errors.New("the artifact has no " + tree.KustomizationFile)
	}
	if err := checkText(tree.KustomizationFile, content); err != nil {
		return k, err
	}
	if err := dialect.Unmarshal(content, &k); err != nil {
		return k, errors.New("the " + tree.KustomizationFile + " of the artifact cannot be read")
	}
	return k, nil
}

// patchesOf returns the inline patches in the kustomization.yaml. Winnow writes no other patches.
func patchesOf(k types.Kustomization) ([]kustomize.Patch, error) {
	var patches []kustomize.Patch
	for _, p := range k.Patches {
		if p.Path != "" {
			return nil, errors.New("the " + tree.KustomizationFile + " of the artifact has a patch that is not inline")
		}
		converted := kustomize.Patch{Patch: p.Patch}
		if t := p.Target; t != nil {
			converted.Target = &kustomize.Selector{
				Group: t.Group, Version: t.Version, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name,
				LabelSelector: t.LabelSelector, AnnotationSelector: t.AnnotationSelector,
			}
		}
		patches = append(patches, converted)
	}
	if err := errors.Join(patching.Check(patches)...); err != nil {
		return nil, fmt.Errorf("a patch of the artifact cannot be read: %w", err)
	}
	return patches, nil
}
