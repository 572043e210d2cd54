// SPDX-License-Identifier: Apache-2.0

package patching_test

import (
	"fmt"
	"path"
	"slices"
	"syscall"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/render/tree"
)

// perBuild reports the CPU seconds of a build, which depend less on what else the machine does than its time.
func perBuild(b *testing.B, build func() error) {
	start := cpu(b)
	for b.Loop() {
		if err := build(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpu(b)-start)/float64(b.N), "cpu-s/op")
}

func cpu(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// BenchmarkPatches is what patches cost in parts: one of all objects, ten of an object each, and ten of all objects.
func BenchmarkPatches(b *testing.B) {
	narrow := many(10)
	for i := range narrow {
		narrow[i].Target = &kustomize.Selector{Kind: "ApplicationDefinition", Name: fmt.Sprintf("a%d", 10*i)}
	}
	for _, n := range []int{500, 2_500, 5_000} {
		files := definitions(b, n)
		for _, of := range []struct {
			name    string
			patches []kustomize.Patch
		}{{"one", many(1)}, {"narrow", narrow}, {"ten", many(10)}} {
			b.Run(fmt.Sprintf("objects=%d/patches=%s", n, of.name), func(b *testing.B) {
				perBuild(b, func() error {
					_, err := inParts(b.Context(), files, tree.Kustomization{Patches: of.patches})
					return err
				})
			})
		}
	}
}

// BenchmarkAtOnce is what kustomize-controller pays at least for a reconciliation of an artifact: of one root, of one that
// lists directories of 100 objects, and of a Kustomization for each 100 objects.
func BenchmarkAtOnce(b *testing.B) {
	for _, n := range []int{500, 1_000, 2_000, 10_000} {
		files := definitions(b, n)
		layouts := []string{"root", "directories", "kustomizations"}
		if n > 2_000 {
			layouts = layouts[:1] // two minutes
		}
		for _, layout := range layouts {
			b.Run(fmt.Sprintf("objects=%d/layout=%s", n, layout), func(b *testing.B) {
				memory, roots := laidOut(b, files, layout)
				perBuild(b, func() error {
					for _, root := range roots {
						if _, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, root); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
	}
}

// laidOut returns files in a layout, and the directories to build.
func laidOut(b *testing.B, files *tree.Tree, layout string) (filesys.FileSystem, []string) {
	memory := filesys.MakeFsInMemory()
	write := func(file string, content []byte) {
		if err := memory.WriteFile(file, content); err != nil {
			b.Fatal(err)
		}
	}
	root := func(dir string, resources []string) {
		k := tree.Kustomization{Resources: resources, Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"}}
		content, err := k.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		write(path.Join(dir, tree.KustomizationFile), content)
	}
	size := 100
	if layout == "root" {
		size = files.Len()
	}
	var dirs []string
	for paths := range slices.Chunk(files.Paths(), size) {
		dir := fmt.Sprintf("d%d", len(dirs))
		for _, file := range paths {
			content, _ := files.Content(file)
			write(path.Join(dir, file), content)
		}
		root(dir, paths)
		dirs = append(dirs, dir)
	}
	if layout == "directories" {
		root("", dirs)
		return memory, []string{"."}
	}
	return memory, dirs
}
