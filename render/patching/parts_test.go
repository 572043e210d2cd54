// SPDX-License-Identifier: Apache-2.0

package patching_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/patching"
	"github.com/winnow-dev/winnow/render/tree"
)

const definition = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: %s\n"

// definitions returns files of small definitions a0, a1 and so on.
func definitions(t testing.TB, n int) *tree.Tree {
	t.Helper()
	files := tree.New()
	for i := range n {
		name := fmt.Sprintf("a%d", i)
		add(t, files, name+".yaml", fmt.Sprintf(definition, name)+"  labels: {team: t"+fmt.Sprint(i%3)+"}\nspec:\n  method: helm\n  description: what it does\n  versions:\n"+
			"  - {version: 1.0.0, template: {source: {helm: {url: https://charts.example, chartName: a, chartVersion: 1.0.0}}}}\n")
	}
	return files
}

func add(t testing.TB, files *tree.Tree, path, content string) {
	t.Helper()
	if err := files.Add(path, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

// inParts builds files as Prove does.
func inParts(ctx context.Context, files *tree.Tree, k tree.Kustomization) (patching.Objects, error) {
	split, err := patching.NewSplit(ctx, files, files.Paths(), k.Patches)
	if err != nil {
		return nil, err
	}
	for i := range k.Patches {
		if err := split.CheckNamed(i); err != nil {
			return nil, err
		}
	}
	built, err := split.Build(ctx, k)
	if err != nil {
		return nil, err
	}
	return built, patching.CheckObjects(split.Unpatched, built)
}

// whole builds files at once, as Flux does.
func whole(t testing.TB, files *tree.Tree, k tree.Kustomization) (patching.Objects, error) {
	t.Helper()
	split, err := patching.NewSplit(t.Context(), files, files.Paths(), nil)
	if err != nil {
		return nil, err
	}
	all := tree.New()
	for _, path := range files.Paths() {
		content, _ := files.Content(path)
		add(t, all, path, string(content))
	}
	k.Resources = files.Paths()
	content, err := k.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	add(t, all, tree.KustomizationFile, string(content))
	built, err := kustomized.Build(all)
	if err != nil {
		return nil, err
	}
	return patching.Objects{built}, patching.CheckObjects(split.Unpatched, patching.Objects{built})
}

// texts maps the objects to their YAML.
func texts(t testing.TB, objects patching.Objects) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, object := range objects.All() {
		content, err := object.RNode.String()
		if err != nil {
			t.Fatal(err)
		}
		all[object.CurId().String()] = content
	}
	return all
}

// patchOf returns a patch of any kind, which may fail.
func patchOf(r *rand.Rand, n int) kustomize.Patch {
	one := fmt.Sprintf("a%d", r.IntN(n+1)) // of which one is not there
	targets := []kustomize.Selector{{}, {Name: one}, {Name: "a1.*"}, {Kind: "ConfigMap"}, {LabelSelector: "team=t1"}, {Namespace: "web"}, {AnnotationSelector: "x=y"}}
	target := &targets[r.IntN(len(targets))]
	merge := fmt.Sprintf(definition, one)
	patches := []kustomize.Patch{
		{Patch: "- {op: add, path: /metadata/annotations, value: {x: y}}", Target: target},
		{Patch: "- {op: add, path: /spec/x, value: {a: [1, '2', 3.5, null]}}", Target: target},
		{Patch: "- {op: replace, path: /spec/description, value: other}", Target: target},
		{Patch: "- {op: remove, path: /metadata/labels/team}", Target: target},
		{Patch: "- {op: test, path: /spec/method, value: helm}\n- {op: copy, from: /spec/method, path: /spec/copied}", Target: target},
		{Patch: "apiVersion: v1\nkind: Any\nmetadata: {name: any, labels: {team: t2}}\nspec: {description: null, y: 1}", Target: target},
		{Patch: "apiVersion: v1\nkind: Any\nmetadata: {name: any}\n$patch: delete\n", Target: &kustomize.Selector{Name: one}},
		{Patch: merge + "spec: {versions: [{version: 2.0.0}], $patch: replace}\n"},
		{Patch: merge + "---\n" + fmt.Sprintf(definition, "a2") + "spec: {z: 012, on: 'on', 1e3: '1e3'}\n"},
		{Patch: "- {op: replace, path: /metadata/name, value: a3}", Target: &kustomize.Selector{Name: one}},
		{Patch: "- {op: replace, path: x/metadata/name, value: " + one + "}", Target: &kustomize.Selector{Name: "a3"}},
		{Patch: "- {op: add, path: /metadata/annotations, value: {internal.config.kubernetes.io/previousNames: a4, internal.config.kubernetes.io/previousKinds: ConfigMap, " +
			"internal.config.kubernetes.io/previousNamespaces: web}}", Target: target},
		{Patch: "- {op: add, path: /metadata/annotations, value: {internal.config.kubernetes.io/needsHashSuffix: enabled}}", Target: target},
		{Patch: "- {op: add, path: /spec/x, value: y}"},
		{Patch: "# nothing\n"},
		{Patch: "no patch", Target: target},
	}
	i := r.IntN(len(patches) + 20)
	if i >= len(patches) {
		i %= 6 // those that mostly succeed are chosen more often
	}
	return patches[i]
}

// What is built in parts is what Flux builds at once, byte by byte, or is refused.
func FuzzParts(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := 51 + r.IntN(10)
		files := definitions(t, n)
		for i := range r.IntN(3) {
			add(t, files, fmt.Sprintf("c%d.yaml", i), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d, namespace: web}\ndata: {a: b}\n", i))
		}
		if r.IntN(3) == 0 {
			add(t, files, "b.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b, namespace: web}\nspec: {template: {spec: {volumes: [{name: v, configMap: {name: a0}}]}}}\n")
		}
		if r.IntN(10) == 0 {
			add(t, files, "z.yaml", fmt.Sprintf(definition, "a1"))
		}
		k := tree.Kustomization{Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"x": "z"}, KindAnnotations: []tree.KindAnnotations{
			{Name: "k", Kinds: []schema.GroupKind{{Kind: "ConfigMap"}}, Annotations: map[string]string{"k": "v"}},
		}}
		for range 1 + r.IntN(5) {
			k.Patches = append(k.Patches, patchOf(r, n))
		}
		if errors.Join(patching.Check(k.Patches)...) != nil {
			return
		}
		parts, err := inParts(t.Context(), files, k)
		if err != nil && strings.Contains(err.Error(), "which at most") {
			return
		}
		at, want := whole(t, files, k)
		if (err == nil) != (want == nil) {
			t.Fatalf("in parts: %v\nat once: %v\n%v", err, want, k.Patches)
		}
		if err != nil {
			return
		}
		if got, want := texts(t, parts), texts(t, at); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in parts %v\nat once %v\n%v", got, want, k.Patches)
		}
	})
}

// What patches relate over parts is built at once, or refused where that takes long.
func TestPatchesThatRelateObjects(t *testing.T) {
	rename := kustomize.Patch{Patch: "- {op: replace, path: /metadata/name, value: a1}", Target: &kustomize.Selector{Name: "a0"}}
	back := kustomize.Patch{Patch: "- {op: replace, path: /metadata/name, value: a0}", Target: &kustomize.Selector{Name: "a1", LabelSelector: "team=t0"}}
	both := kustomize.Patch{Patch: "apiVersion: v1\nkind: Any\nmetadata: {name: any}\nspec: {x: y}\n", Target: &kustomize.Selector{Name: "a0"}}
	patches := []kustomize.Patch{rename, both, back}
	if _, err := inParts(t.Context(), definitions(t, 60), tree.Kustomization{Patches: patches}); err == nil || !strings.Contains(err.Error(), "already registered") {
		t.Errorf("two objects with one name in between: %v", err)
	}
	if _, err := inParts(t.Context(), definitions(t, 200), tree.Kustomization{Patches: patches}); err == nil || !strings.Contains(err.Error(), "at most 500 objects times patches") {
		t.Errorf("200 objects: %v", err)
	}
}

func TestAPatchWithoutATargetNamesOneObject(t *testing.T) {
	const patch = "spec: {x: y}\n"
	files := definitions(t, 120)
	for name, want := range map[string]string{"a0": "", "a119": "", "b": "which the artifact does not have"} {
		built, err := inParts(t.Context(), files, tree.Kustomization{Patches: []kustomize.Patch{{Patch: fmt.Sprintf(definition, name) + patch}}})
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		changed := 0
		for _, object := range built.All() {
			if object.Field("spec").Value.Field("x") != nil {
				changed++
			}
		}
		if want == "" && changed != 1 {
			t.Errorf("%d objects are patched instead of %s", changed, name)
		}
	}
	add(t, files, "again.yaml", fmt.Sprintf(definition, "a0"))
	if _, err := inParts(t.Context(), files, tree.Kustomization{}); err == nil || !strings.Contains(err.Error(), "two objects have the identity") {
		t.Errorf("an object twice: %v", err)
	}
}

// The end of a context ends a build of minutes at once.
func TestTheEndOfAContextEndsABuild(t *testing.T) {
	files := definitions(t, 2_000)
	k := tree.Kustomization{Patches: many(25)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	if _, err := inParts(ctx, files, k); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the build ended: %v", err)
	}
	if over := time.Since(start) - time.Second; over > 10*time.Second {
		t.Errorf("it ended %s after its context", over)
	} else {
		t.Logf("it ended %s after its context", over)
	}
}

// many returns patches of all objects.
func many(n int) []kustomize.Patch {
	patches := make([]kustomize.Patch, n)
	for i := range patches {
		patches[i] = kustomize.Patch{Patch: fmt.Sprintf("- {op: add, path: /spec/x%d, value: y}", i), Target: &kustomize.Selector{Kind: "ApplicationDefinition"}}
	}
	return patches
}

// The time of a part grows with the square of its objects, and it cannot be interrupted: parts stay small.
func TestPartsAreSmall(t *testing.T) {
	for patches, most := range map[int]int{0: 50, 1: 50, 10: 50, 25: 20, 500: 1} {
		files := definitions(t, 101)
		split, err := patching.NewSplit(t.Context(), files, files.Paths(), many(patches))
		if err != nil {
			t.Fatal(err)
		}
		if len(split.Unpatched.All()) != 101 {
			t.Errorf("there are %d objects with %d patches", len(split.Unpatched.All()), patches)
		}
		for _, part := range split.Unpatched {
			if part.Size() > most {
				t.Errorf("a part has %d objects with %d patches, want at most %d", part.Size(), patches, most)
			}
		}
	}
}
