// SPDX-License-Identifier: Apache-2.0

package patching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/parallel"
	"github.com/winnow-dev/winnow/render/tree"
)

// Split is an artifact that kustomize builds in parts, with patches. Nothing that Winnow writes into a kustomization.yaml
// relates an object to another one, except what relation finds: then all objects are one part.
type Split struct {
	// Unpatched are the objects as they are read from the files.
	Unpatched Objects

	files   *tree.Tree
	entries []entry
	// unknown are those that name no object.
	unknown []entry
	// paths and patches of each part.
	paths   [][]string
	patches [][]kustomize.Patch
}

// NewSplit reads the objects in files of a tree. It returns an error for two objects with one identity, and for more objects
// than are built as a whole where they have to be.
func NewSplit(ctx context.Context, files *tree.Tree, paths []string, patches []kustomize.Patch) (*Split, error) {
	s := &Split{files: files}
	var err error
	if s.entries, err = entriesOf(patches); err != nil {
		return nil, err
	}
	size := max(1, min(maxPartFiles, maxPartApplied/max(1, len(patches))))
	s.paths = slices.Collect(slices.Chunk(slices.Sorted(slices.Values(paths)), size))
	if len(paths) == 0 {
		s.paths = [][]string{nil} // so that kustomize reads the patches
	}
	if s.Unpatched, err = inParts(ctx, len(s.paths), s.read); err != nil {
		return nil, err
	}
	related, err := relation(s.Unpatched.All(), patches)
	if err != nil {
		return nil, err
	}
	if n := len(paths) * max(1, len(patches)); related != "" && len(s.paths) > 1 {
		if n > maxPartApplied {
			return nil, fmt.Errorf("%s, which at most %d objects times patches may have: these are %d", related, maxPartApplied, n)
		}
		s.paths = [][]string{slices.Concat(s.paths...)}
		if s.Unpatched, err = inParts(ctx, 1, s.read); err != nil {
			return nil, err
		}
	}
	return s, s.assign()
}

// inParts calls do for the parts on all cores. It returns the error of the first part that has one, or the error of the context,
// which it checks between two parts.
func inParts(ctx context.Context, n int, do func(int) (resmap.ResMap, error)) (Objects, error) {
	objects, errs := make(Objects, n), make([]error, n)
	err := parallel.For(ctx, n, func(i int) { objects[i], errs[i] = do(i) })
	if err = cmp.Or(err, cmp.Or(errs...)); err != nil {
		return nil, err
	}
	return objects, nil
}

// read returns the objects in the files of a part.
func (s *Split) read(part int) (resmap.ResMap, error) {
	objects := resmap.New()
	for _, path := range s.paths[part] {
		content, _ := s.files.Content(path)
		read, err := kustomized.Factory().NewResMapFromBytes(content)
		if err == nil {
			err = objects.AppendAll(read)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	return objects, nil
}

// assign gives each part its patches: those with a target, and those that name one of its objects.
func (s *Split) assign() error {
	holders := map[resid.ResId]int{}
	for i, part := range s.Unpatched {
		for _, id := range part.AllIds() {
			id = normal(id)
			if _, ok := holders[id]; ok {
				return fmt.Errorf("two objects have the identity %s", id)
			}
			holders[id] = i
		}
	}
	s.patches = make([][]kustomize.Patch, len(s.paths))
	for _, e := range s.entries {
		i, ok := holders[e.named]
		switch {
		case e.Target != nil:
			for i := range s.patches {
				s.patches[i] = append(s.patches[i], e.Patch)
			}
		case !ok:
			s.unknown = append(s.unknown, e)
		case len(s.patches[i]) == maxPartApplied:
			return fmt.Errorf("more than %d documents of patches are for %s and its neighbours: join patches", maxPartApplied, e.named)
		default:
			s.patches[i] = append(s.patches[i], e.Patch)
		}
	}
	return nil
}

// CheckNamed returns an error if a patch without a target, by its index, names an object that the artifact does not have.
func (s *Split) CheckNamed(patch int) error {
	for _, e := range s.unknown {
		if e.of != patch {
			continue
		}
		if e.named == (resid.ResId{}) {
			return errors.New("kustomize refuses the patch: it has no target and is no strategic merge patch: set a target")
		}
		return fmt.Errorf("the patch has no target and names the object %s, which the artifact does not have: name one that it has, or set a target", e.named)
	}
	return nil
}

// Build builds all parts with what k sets on objects and with the patches of the Split. Patches without a target that name
// none of its objects are left out.
func (s *Split) Build(ctx context.Context, k tree.Kustomization) (Objects, error) {
	return s.build(ctx, k, func(string) bool { return true })
}

// BuildSome builds only the parts that have one of the files.
func (s *Split) BuildSome(ctx context.Context, k tree.Kustomization, paths []string) (Objects, error) {
	return s.build(ctx, k, sets.New(paths...).Has)
}

func (s *Split) build(ctx context.Context, k tree.Kustomization, wanted func(string) bool) (Objects, error) {
	var parts []int
	for i, paths := range s.paths {
		if len(paths) == 0 || slices.ContainsFunc(paths, wanted) {
			parts = append(parts, i)
		}
	}
	return inParts(ctx, len(parts), func(n int) (resmap.ResMap, error) {
		i, part := parts[n], k
		part.Resources, part.Patches = s.paths[i], s.patches[i]
		files := tree.New()
		for _, path := range part.Resources {
			content, _ := s.files.Content(path)
			if err := files.Add(path, content); err != nil {
				return nil, fmt.Errorf("assembling a part of the artifact: %w", err)
			}
		}
		content, err := part.Marshal()
		if err == nil {
			err = files.Add(tree.KustomizationFile, content)
		}
		if err != nil {
			return nil, fmt.Errorf("assembling a part of the artifact: %w", err)
		}
		return kustomized.Build(files)
	})
}

// referrers and referrals are the kinds whose objects kustomize relates by name: it may write the name and the namespace of
// a referral into a referrer. It compares no groups for some of them.
func referrers() []string {
	return []string{
		"APIService", "ClusterRole", "ClusterRoleBinding", "CronJob", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Ingress", "Job",
		"MutatingWebhookConfiguration", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicaSet",
		"ReplicationController", "Role", "RoleBinding", "Service", "ServiceAccount", "StatefulSet", "StorageClass",
		"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	}
}

func referrals() []string {
	return []string{
		"ClusterRole", "ConfigMap", "Deployment", "IngressClass", "PersistentVolume", "PersistentVolumeClaim", "PriorityClass", "ReplicaSet",
		"ReplicationController", "Role", "Secret", "Service", "ServiceAccount", "StatefulSet", "StorageClass", "ValidatingAdmissionPolicy",
	}
}

// relation says why what kustomize builds of an object may depend on the other objects, empty if it does not. An object
// that a patch renames, and later names as before, may meet others in between.
func relation(objects []*resource.Resource, patches []kustomize.Patch) (string, error) {
	for _, p := range patches {
		read, err := readOperations(p)
		if err != nil {
			return "", err
		}
		if read.relates || read.renames {
			return "a patch sets the apiVersion, kind, name, namespace or all metadata of objects, or annotations of kustomize", nil
		}
	}
	if len(patches) == 0 {
		return "", nil
	}
	has := func(kinds []string) bool {
		return slices.ContainsFunc(objects, func(o *resource.Resource) bool { return slices.Contains(kinds, o.GetKind()) })
	}
	if has(referrers()) && has(referrals()) {
		return "patched objects are of kinds that kustomize relates by name, as a RoleBinding and a ServiceAccount", nil
	}
	return "", nil
}
