// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	flux "github.com/fluxcd/pkg/kustomize"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/building"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/manifest"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/render/parallel"
)

// Random directories are built as kustomize-controller builds them: with Generator, SecureBuild and SubstituteVariables of
// fluxcd/pkg/kustomize, strict as by default, and the common metadata. That package needs clients of the API server, and parses
// the schema of kustomize for each build, so only tests import it. WINNOW_BUILD_CASES is the number of directories, and
// WINNOW_BUILD_SEED where they begin. What differs on purpose:
//   - Objects that no comparison needs (manifest.IsRelevant) are left out.
//   - A variable of a Secret, or of an object that is not in the repository, is a placeholder, and the object names it. Flux reads
//     it from the cluster.
//   - The labels and annotations of buildMetadata are not added: no comparison reads them.
//   - Where Flux replaces variables, it rounds whole numbers above 2^53. Here they keep their digits.
//   - Texts of errors differ. Flux reads the disk, and fetches remote bases; here, files come from the commit alone, and remotes
//     are left out.
func TestRandomDirectoriesAreBuiltAsFluxDoes(t *testing.T) {
	number := func(variable string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
			return n
		}
		return otherwise
	}
	wanted, seed := number("WINNOW_BUILD_CASES", 60), number("WINNOW_BUILD_SEED", 1)
	var cases []*fluxCase
	files := map[string]string{}
	for i := range wanted {
		c := newFluxCase(i, rand.New(rand.NewPCG(uint64(seed), uint64(i))))
		cases = append(cases, c)
		maps.Copy(files, c.files)
	}
	commits(t, files, nil)
	tree, builds, failed, objects, hidden := headTree(t), building.NewBuilder(), 0, 0, 0
	for _, c := range cases {
		got, unknown, err := c.buildHere(t, tree, builds)
		want, unset, wantErr := c.buildByFlux(t)
		hidden += len(unknown)
		if c.isHidden {
			maps.DeleteFunc(got, func(key, _ string) bool { return unknown[key] })
			maps.DeleteFunc(want, func(key, _ string) bool { _, known := got[key]; return !known })
			if wantErr != nil { // Flux has no values either, or others that it cannot use
				continue
			}
		} else if err == nil && wantErr == nil && !maps.Equal(unknown, unset) {
			t.Errorf("directory %d of seed %d: %v have variables without a value, %v are unknown here\n%s", c.number, seed, unset, unknown, c)
		}
		switch difference := differences(got, want); {
		case err != nil && wantErr != nil:
			failed++
		case err != nil || wantErr != nil:
			t.Errorf("directory %d of seed %d: with Flux: %v\nhere: %v\n%s", c.number, seed, wantErr, err, c)
		case difference != "":
			t.Errorf("directory %d of seed %d (- Flux, + here):\n%s%s", c.number, seed, difference, c)
		}
		objects += len(got)
	}
	summary := fmt.Sprintf("%d directories have %d objects, and %d with unknown variables; %d cannot be built", len(cases), objects, hidden, failed)
	t.Log(summary)
	if failed == 0 || hidden == 0 || failed > wanted/2 || objects < wanted {
		t.Error(summary)
	}
}

// fluxCase is a cluster with a Kustomization named app, and the directory that it builds.
type fluxCase struct {
	*rand.Rand
	number int
	// files have whole paths, and dir is the one of the Kustomization.
	files map[string]string
	dir   string
	spec  map[string]any
	maps  map[string]*unstructured.Unstructured
	// isHidden reports that variables come from a Secret, or from an object that is not in the repository.
	isHidden bool
	names    int
}

func (c *fluxCase) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		fmt.Fprintf(&b, "# %s\n%s\n", name, c.files[name])
	}
	return b.String()
}

// buildHere returns the objects that the Kustomization applies, by their keys, and the keys of those with unknown variables.
func (c *fluxCase) buildHere(t *testing.T, tree *repository.Tree, builds *building.Builder) (map[string]string, map[string]bool, error) {
	t.Helper()
	self := repository.Identity{Remotes: map[string]string{"git.example.com/org/fleet": "origin"}}
	w := &walk{cluster: fmt.Sprintf("cluster%d", c.number), tree: tree, self: self, builds: builds}
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := w.nodes["flux-system/app"]
	if n == nil {
		t.Fatalf("no Kustomization: %s\n%s", w.nodes[""].reason, c)
	}
	if n.outcome == skipped {
		if err := w.build(t.Context(), n, n.closure.Tree); err != nil {
			t.Fatal(err)
		}
	}
	if n.outcome != evaluated {
		return nil, nil, errors.New(n.reason)
	}
	found, unknown := map[string]string{}, map[string]bool{}
	for _, o := range n.objects {
		addObject(t, found, o.Unstructured)
		if len(o.Unknown) > 0 {
			unknown[keyOf(o.Unstructured)] = true
		}
	}
	return found, unknown, nil
}

// buildByFlux does what kustomize-controller does from the source to the objects. It returns the objects by their keys, and the keys of
// those with a variable that has no value, which it takes for empty.
func (c *fluxCase) buildByFlux(t *testing.T) (found map[string]string, unset map[string]bool, err error) {
	t.Helper()
	k := unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "flux-system"}, "spec": c.spec}}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, c.dir)
	if _, err := flux.NewGenerator(root, k).WriteFile(dir); err != nil {
		return nil, nil, err
	}
	built, err := flux.SecureBuild(root, dir, false)
	if err != nil {
		return nil, nil, err
	}
	lacks := map[int]bool{}
	if post, found := c.spec["postBuild"].(map[string]any); found {
		always := post["substituteStrategy"] == string(kustomizev1.SubstituteStrategyAlways)
		for i, r := range built.Resources() {
			if lacks[i], err = c.replaceVariables(t.Context(), k, built, r, always); err != nil {
				return nil, nil, err
			}
		}
	}
	found, unset = map[string]string{}, map[string]bool{}
	for i, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return nil, nil, err
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &o.Object, func(d *json.Decoder) *json.Decoder { d.UseNumber(); return d }); err != nil {
			return nil, nil, err
		}
		if !manifest.IsRelevant(o) {
			continue
		}
		if common, ok := c.spec["commonMetadata"].(map[string]any); ok {
			o.SetLabels(merged(o.GetLabels(), common["labels"]))
			o.SetAnnotations(merged(o.GetAnnotations(), common["annotations"]))
		}
		addObject(t, found, o)
		if lacks[i] {
			unset[keyOf(o)] = true
		}
	}
	return found, unset, nil
}

// replaceVariables replaces the variables of a resource. It reports whether one lacks a value: Flux 2.9 and later stop there.
func (c *fluxCase) replaceVariables(ctx context.Context, k unstructured.Unstructured, built resmap.ResMap, r *resource.Resource, always bool) (lacks bool, err error) {
	defer parallel.RecoverAs("recovered from panic", &err) // as controller-runtime does
	var replaced *resource.Resource
	for _, strict := range []bool{true, false} {
		lacks = err != nil
		replaced, err = flux.SubstituteVariables(ctx, mapReader{maps: c.maps}, k, r, flux.SubstituteWithStrict(strict), flux.SubstituteWithAlways(always))
		if err == nil {
			break
		}
	}
	if replaced != nil {
		_, err = built.Replace(r)
	}
	return lacks, err
}

// mapReader is a client that reads ConfigMaps and Secrets.
type mapReader struct {
	client.Client
	maps map[string]*unstructured.Unstructured
}

func (r mapReader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *corev1.ConfigMap:
		if found := r.maps["ConfigMap/"+key.Name]; found != nil {
			into.Data, _, _ = unstructured.NestedStringMap(found.Object, "data")
			return nil
		}
	case *corev1.Secret:
		if found := r.maps["Secret/"+key.Name]; found != nil {
			values, _, _ := unstructured.NestedStringMap(found.Object, "stringData")
			into.Data = map[string][]byte{}
			for name, value := range values {
				into.Data[name] = []byte(value)
			}
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func merged(all map[string]string, more any) map[string]string {
	all = maps.Clone(all)
	if all == nil {
		all = map[string]string{}
	}
	values, _ := more.(map[string]any)
	for key, value := range values {
		all[key] = value.(string)
	}
	return all
}

func keyOf(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s %s/%s", o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName())
}

// addObject adds an object as YAML. Of equal keys, it keeps all.
func addObject(t *testing.T, to map[string]string, o *unstructured.Unstructured) {
	t.Helper()
	for _, fields := range [][]string{{"metadata", "labels"}, {"metadata", "annotations"}} {
		if found, _, _ := unstructured.NestedMap(o.Object, fields...); len(found) == 0 {
			unstructured.RemoveNestedField(o.Object, fields...)
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(o.Object); err != nil {
		t.Fatal(err)
	}
	to[keyOf(o)] += text.String()
}

// differences returns the lines of objects that differ.
func differences(got, want map[string]string) string {
	var b strings.Builder
	keys := maps.Clone(got)
	maps.Copy(keys, want)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if got[key] == want[key] {
			continue
		}
		fmt.Fprintf(&b, "%s\n", key)
		gotLines, wantLines := strings.Split(got[key], "\n"), strings.Split(want[key], "\n")
		for _, line := range wantLines {
			if !slices.Contains(gotLines, line) {
				fmt.Fprintf(&b, "-%s\n", line)
			}
		}
		for _, line := range gotLines {
			if !slices.Contains(wantLines, line) {
				fmt.Fprintf(&b, "+%s\n", line)
			}
		}
	}
	return b.String()
}
