// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/artifact/storage"
	"github.com/fluxcd/pkg/tar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/selection"
)

// measure is a part of a process that is measured: what begin returns, after it has prepared it.
type measure struct {
	name string
	// about is the row of the table.
	about string
	begin func(dir string) (func() error, error)
	// atMost is the target as a part of the floor; 0 without one.
	atMost float64
	// only is the number of applications that it is measured with; 0 for all.
	only int
}

const (
	floorMeasure, coldMeasure, revisionMeasure = "floor", "cold", "revision"
	kustomizeMeasure, copyMeasure              = "kustomize", "copy"
	// former and present are the layers of two revisions in a row.
	former, present = "former.tar.gz", "present.tar.gz"
)

func measures() []measure {
	return []measure{
		{name: floorMeasure, about: "gunzip and gzip of the layer, the floor", begin: floor},
		{name: coldMeasure, about: "render of a new catalog, all selected", begin: cold, atMost: 1.4},
		{name: revisionMeasure, about: "render of a new revision, all selected", begin: revision, atMost: 0.5},
		{name: "warm", about: "render of a cached catalog, all selected", begin: warm(0), atMost: 0.3},
		{name: "fifty", about: "render of a cached catalog, 50 selected", begin: warm(50), atMost: 0.3},
		{name: kustomizeMeasure, about: "kustomize build of the artifact", begin: kustomizeBuild, only: 1000},
		{name: copyMeasure, about: "copy as source-watcher makes it", begin: copyByFlux},
	}
}

// taken is what a process prints.
type taken struct {
	Wall, Processor time.Duration
}

// task measures, and prints the result.
func (m measure) task(dir string) error {
	do, err := m.begin(dir)
	if err != nil {
		return err
	}
	before, err := processorTime()
	if err != nil {
		return err
	}
	stop, err := profile()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := errors.Join(do(), stop()); err != nil {
		return err
	}
	t := taken{Wall: time.Since(start)}
	after, err := processorTime()
	if err != nil {
		return err
	}
	t.Processor = after - before
	return json.NewEncoder(os.Stdout).Encode(t)
}

// profileVariable names the file that a process writes a profile of its processor time to.
const profileVariable = "WINNOW_BENCH_PROFILE"

// profile begins a profile, if one is asked for, and returns what ends it.
func profile() (stop func() error, err error) {
	to := os.Getenv(profileVariable)
	if to == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(filepath.Clean(to))
	if err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, pprof.StartCPUProfile(file)
}

// writeLayers writes two revisions of a catalog.
func writeLayers(dir string, count int) error {
	for revision, name := range []string{former, present} {
		file, err := os.Create(filepath.Clean(filepath.Join(dir, name)))
		if err != nil {
			return err
		}
		if err := errors.Join(Applications{Count: count, Revision: revision}.Write(file), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// printPlain prints the bytes of the tar stream of a layer.
func printPlain(dir string) error {
	return withLayer(dir, present, func(layer io.Reader) error {
		plain, err := gzip.NewReader(layer)
		if err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, plain)
		fmt.Println(n)
		return err
	})
}

func floor(dir string) (func() error, error) {
	return func() error {
		return withLayer(dir, present, func(layer io.Reader) error {
			plain, err := gzip.NewReader(layer)
			if err != nil {
				return err
			}
			packed := gzip.NewWriter(io.Discard)
			if _, err := io.Copy(packed, plain); err != nil {
				return err
			}
			return packed.Close()
		})
	}, nil
}

func withLayer(dir, name string, do func(io.Reader) error) error {
	file, err := os.Open(filepath.Clean(filepath.Join(dir, name)))
	if err != nil {
		return err
	}
	return errors.Join(do(file), file.Close())
}

// loadLayer loads a layer, by what is known of the revision before it, nil without one.
func loadLayer(dir, name string, before *catalog.Catalog) (loaded *catalog.Catalog, err error) {
	err = withLayer(dir, name, func(layer io.Reader) error {
		loaded, err = render.LoadRevision(context.Background(), "applications", layer, render.CatalogLocation{}, before)
		return err
	})
	return loaded, err
}

// renderAll renders some of the applications, or all with 0, into an archive.
func renderAll(loaded *catalog.Catalog, name string, some int) (*render.Result, error) {
	spec := v1alpha1.CatalogSelectionSpec{Sources: []v1alpha1.SourceReference{{Kind: "OCIRepository", Name: "applications"}}}
	if some > 0 {
		spec.Limit = &v1alpha1.Limit{}
		for i := range some {
			spec.Limit.NameSelector = append(spec.Limit.NameSelector, loaded.Applications[i*len(loaded.Applications)/some].Name)
		}
	}
	meta := metav1.ObjectMeta{Name: name, Namespace: "default"}
	opts, err := render.FromSpec(&v1alpha1.CatalogSelection{ObjectMeta: meta, Spec: spec})
	if err != nil {
		return nil, err
	}
	result, err := render.Render(context.Background(), []selection.Source{{Name: "applications", Catalog: loaded}}, opts)
	if err != nil {
		return nil, err
	}
	if want := len(loaded.Applications); len(result.Definitions) != want && len(result.Definitions) != some {
		return nil, fmt.Errorf("%d of %d applications are selected", len(result.Definitions), want)
	}
	return result, result.WriteArchive(io.Discard)
}

func cold(dir string) (func() error, error) {
	return func() error {
		loaded, err := loadLayer(dir, present, nil)
		if err != nil {
			return err
		}
		_, err = renderAll(loaded, "own", 0)
		return err
	}, nil
}

func revision(dir string) (func() error, error) {
	before, err := loadLayer(dir, former, nil)
	if err != nil {
		return nil, err
	}
	if _, err := renderAll(before, "own", 0); err != nil {
		return nil, err
	}
	return func() error {
		loaded, err := loadLayer(dir, present, before)
		if err != nil {
			return err
		}
		_, err = renderAll(loaded, "own", 0)
		return err
	}, nil
}

// warm renders another selection of some applications, or all with 0, than the one that the catalog was loaded for.
func warm(some int) func(dir string) (func() error, error) {
	return func(dir string) (func() error, error) {
		loaded, err := loadLayer(dir, present, nil)
		if err != nil {
			return nil, err
		}
		if _, err := renderAll(loaded, "own", 0); err != nil {
			return nil, err
		}
		return func() error {
			_, err := renderAll(loaded, "another", some)
			return err
		}, nil
	}
}

func kustomizeBuild(dir string) (func() error, error) {
	loaded, err := loadLayer(dir, present, nil)
	if err != nil {
		return nil, err
	}
	result, err := renderAll(loaded, "own", 0)
	if err != nil {
		return nil, err
	}
	memory := filesys.MakeFsInMemory()
	for _, path := range result.Tree.Paths() {
		content, _ := result.Tree.Content(path)
		if err := memory.WriteFile(path, content); err != nil {
			return nil, err
		}
	}
	return func() error {
		_, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, ".")
		return err
	}, nil
}

// copyByFlux does what source-watcher does for an ArtifactGenerator that copies all files of a source, with the same
// libraries: it unpacks the archive into a directory, copies the files into another one, and packs that.
func copyByFlux(dir string) (func() error, error) {
	work, err := os.MkdirTemp(dir, "copy-")
	if err != nil {
		return nil, err
	}
	unpacked, staged := filepath.Join(work, "unpacked"), filepath.Join(work, "staged")
	return func() error {
		defer func() { _ = os.RemoveAll(work) }() // the benchmark removes it as well
		if err := os.Mkdir(unpacked, 0o750); err != nil {
			return err
		}
		err := withLayer(dir, present, func(layer io.Reader) error {
			return tar.Untar(layer, unpacked, tar.WithMaxUntarSize(tar.UnlimitedUntarSize))
		})
		if err != nil {
			return err
		}
		if err := os.CopyFS(staged, os.DirFS(unpacked)); err != nil {
			return err
		}
		return storage.Storage{BasePath: work}.Archive(&meta.Artifact{Path: "artifact.tar.gz"}, staged, nil)
	}, nil
}
