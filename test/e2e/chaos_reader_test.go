// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// reader verifies every artifact that is announced, again and again, and what is live.
type reader struct {
	news     chan sourcev1.ExternalArtifact
	current  map[string]*meta.Artifact // by selection
	pending  []announced
	built    map[string]bool // by selection and revision
	number   map[string]int  // the last release, by selection
	uids     map[string]types.UID
	releases map[string]int // of live objects

	downloads, passed, samples int
}

// announced is an artifact of a selection that is to be verified.
type announced struct {
	selection string
	artifact  *meta.Artifact
}

func newReader() *reader {
	return &reader{
		news: make(chan sourcev1.ExternalArtifact, 10_000), current: map[string]*meta.Artifact{}, built: map[string]bool{},
		number: map[string]int{}, uids: map[string]types.UID{}, releases: map[string]int{},
	}
}

// watchArtifacts sends every ExternalArtifact that the API server announces, also after it was restarted.
func (c *chaos) watchArtifacts(ctx context.Context) {
	api, err := client.NewWithWatch(system.RESTConfig(), client.Options{Scheme: system.Client().Scheme()})
	if err != nil {
		c.t.Error(err)
		return
	}
	for ctx.Err() == nil {
		var list sourcev1.ExternalArtifactList
		watcher, err := api.Watch(ctx, &list, client.InNamespace(c.name)) // it begins with what there is
		if err != nil {
			pause(ctx, 200*time.Millisecond)
			continue
		}
		for event := range watcher.ResultChan() {
			if ea, ok := event.Object.(*sourcev1.ExternalArtifact); ok && event.Type != watch.Deleted {
				c.reader.news <- *ea
			}
		}
	}
}

// read verifies artifacts and live objects until ctx ends.
func (c *chaos) read(ctx context.Context) {
	for tick := 0; ctx.Err() == nil; tick++ {
		c.drain()
		if tick%4 == 0 {
			for name, artifact := range c.reader.current {
				c.reader.pending = append(c.reader.pending, announced{name, artifact})
			}
		}
		c.reader.pending = slices.DeleteFunc(c.reader.pending, func(a announced) bool { return c.verified(ctx, a) })
		c.readLive(ctx)
		pause(ctx, 250*time.Millisecond)
	}
}

// drain notes what was announced.
func (c *chaos) drain() {
	for {
		select {
		case ea := <-c.reader.news:
			artifact := ea.Status.Artifact
			if artifact == nil || strings.HasPrefix(artifact.URL, forgedURL) {
				continue
			}
			number := numberOf(artifact)
			if last := c.reader.number[ea.Name]; number < last {
				c.t.Errorf("%s: release %d is announced after %d", ea.Name, number, last)
			}
			c.reader.number[ea.Name], c.reader.current[ea.Name] = number, artifact
			c.reader.pending = append(c.reader.pending, announced{ea.Name, artifact})
		default:
			return
		}
	}
}

// numberOf returns the release that an artifact was rendered from: its origin is v7@sha256:...
func numberOf(artifact *meta.Artifact) int {
	tag, _, _ := strings.Cut(artifact.Metadata[v1.AnnotationRevision], "@")
	number, _ := strconv.Atoi(strings.TrimPrefix(tag, "v"))
	return number
}

// direct returns the URL of an archive without the gate.
func (c *chaos) direct(url string) string {
	return strings.Replace(url, c.archives.host(), system.controller.StorageAddr, 1)
}

// verified downloads and checks an artifact. It returns false if that has to be tried again: the controller may be down,
// or render the archive once more.
func (c *chaos) verified(ctx context.Context, a announced) bool {
	archive, err := fetch(ctx, c.direct(a.artifact.URL))
	if err != nil {
		if now := c.reader.current[a.selection]; now.Revision == a.artifact.Revision {
			return false
		}
		c.reader.passed++ // another one is announced
		return true
	}
	c.reader.downloads++
	if got := digest.FromBytes(archive).String(); got != a.artifact.Digest || int64(len(archive)) != *a.artifact.Size {
		c.t.Errorf("torn: %s of %s has %d bytes and %s, announced are %d and %s",
			a.artifact.Revision, a.selection, len(archive), got, *a.artifact.Size, a.artifact.Digest)
		return true
	}
	if key := a.selection + " " + a.artifact.Revision; !c.reader.built[key] {
		c.reader.built[key] = true
		if err := complete(archive, a.selection, numberOf(a.artifact)); err != nil {
			c.t.Errorf("incomplete: %s of %s: %v", a.artifact.Revision, a.selection, err)
		}
	}
	return true
}

// fetch returns the whole body of a successful answer.
func fetch(ctx context.Context, url string) ([]byte, error) {
	bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(bounded, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return io.ReadAll(response.Body)
}

// complete returns an error unless kustomize builds an archive to exactly the applications of a selection, all of the
// same release.
func complete(archive []byte, selection string, release int) error {
	files := filesys.MakeFsInMemory()
	if err := unpack(archive, files); err != nil {
		return err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, ".")
	if err != nil {
		return err
	}
	var names []string
	for _, object := range built.Resources() {
		names = append(names, object.GetName())
		content, err := object.Map()
		if err != nil {
			return err
		}
		if got := releaseOf(unstructured.Unstructured{Object: content}); got != release {
			return fmt.Errorf("%s is of release %d, want %d", object.GetName(), got, release)
		}
	}
	slices.Sort(names)
	kept := namesOf(selection, keptLetters)
	if !slices.Equal(names, kept) && !slices.Equal(names, append(kept, namesOf(selection, []string{optionalLetter})...)) {
		return fmt.Errorf("it has %v", names)
	}
	return nil
}

func unpack(archive []byte, files filesys.FileSystem) error {
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for reader := tar.NewReader(plain); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(reader)
		if err == nil {
			err = files.WriteFile(header.Name, content)
		}
		if err != nil {
			return err
		}
	}
}

// readLive checks that what was live and every spec keeps is the same object still, of no older release.
func (c *chaos) readLive(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	live, err := c.definitions(bounded)
	if err != nil {
		return // the API server is down
	}
	c.reader.samples++
	for _, selection := range c.selections {
		for _, name := range namesOf(selection, keptLetters) {
			d, lives := live[name]
			before, known := c.reader.uids[name]
			if known && (!lives || d.GetUID() != before) {
				c.t.Errorf("gone: %s, whose UID was %s, lives: %t, with the UID %s", name, before, lives, d.GetUID())
			}
			if !lives {
				continue
			}
			release := releaseOf(d)
			if release < c.reader.releases[name] {
				c.t.Errorf("%s was of release %d and is of %d", name, c.reader.releases[name], release)
			}
			c.reader.uids[name], c.reader.releases[name] = d.GetUID(), release
		}
	}
}
