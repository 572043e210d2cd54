// SPDX-License-Identifier: Apache-2.0

package fetching

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/opencontainers/go-digest"
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Fetcher fetches charts from registries and repositories. It is safe for concurrent use.
type Fetcher struct {
	access      oci.Access
	cache       Cache
	credentials *oci.Credentials

	mu sync.Mutex
	// indexes of repositories by URL, which are fetched once.
	indexes map[string]func() (index, error)
	// values that all indexes may have.
	values int
}

// New returns a fetcher. It sends no request yet.
func New(access oci.Access, cache Cache) (*Fetcher, error) {
	found, err := oci.OpenCredentials()
	if err != nil {
		return nil, err
	}
	return &Fetcher{access: access, cache: cache, credentials: found, indexes: map[string]func() (index, error){}}, nil
}

// Fetch returns the archive of a chart.
func (f *Fetcher) Fetch(ctx context.Context, r Reference) (content []byte, err error) {
	isKept := false
	kept := func(sum digest.Digest) []byte {
		found := f.cache.get(sum)
		isKept = found != nil
		return found
	}
	if r.isOCI() {
		content, err = f.fromRegistry(ctx, r, kept)
	} else {
		content, err = f.fromRepository(ctx, r, kept)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	if !isKept && isChart(ctx, content) {
		f.cache.put(content)
	}
	return content, nil
}

// isChart reports whether content is the archive of a chart. Any server may have answered: what else it has is not kept.
func isChart(ctx context.Context, content []byte) bool {
	nothing := func(string, int64) bool { return true }
	found, err := archive.ReadSome(ctx, bytes.NewReader(content), rendering.Limits(), nothing, nil)
	return err == nil && slices.ContainsFunc(found.Paths(), func(name string) bool {
		above, below, _ := strings.Cut(name, "/")
		return above != "" && below == chartFile
	})
}

// lookup returns the archive with a digest; nil for none.
type lookup = func(digest.Digest) []byte

func (f *Fetcher) fromRegistry(ctx context.Context, r Reference, kept lookup) ([]byte, error) {
	if err := checkTag(r.Version); err != nil {
		return nil, err
	}
	reference, err := oci.ParseReference(r.artifact())
	if err != nil {
		return nil, err
	}
	repository, err := oci.Connect(reference, f.access, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return repository.PullChart(ctx, rendering.MaxArchive, kept)
}

func (f *Fetcher) fromRepository(ctx context.Context, r Reference, kept lookup) ([]byte, error) {
	index, err := f.index(ctx, r.URL)
	if err != nil {
		return nil, err
	}
	found, err := index.find(r.Name, r.Version)
	if err != nil {
		return nil, err
	}
	if content := kept(found.digest); content != nil {
		return content, nil
	}
	content, err := index.web.get(ctx, found.url, rendering.MaxArchive)
	if err != nil {
		return nil, err
	}
	if sum := found.digest; sum != "" && sum.Algorithm().FromBytes(content) != sum {
		return nil, fmt.Errorf("its archive has the digest %s, and its index.yaml says %s", digest.FromBytes(content), sum)
	}
	return content, nil
}

// index returns the index.yaml of a repository, which it fetches once. It keeps an error as well, but not a context's.
func (f *Fetcher) index(ctx context.Context, address string) (index, error) {
	f.mu.Lock()
	fetch, known := f.indexes[address]
	if !known {
		fetch = sync.OnceValues(func() (index, error) { return f.fetchIndex(ctx, address) })
		f.indexes[address] = fetch
	}
	f.mu.Unlock()
	found, err := fetch()
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return f.fetchIndex(ctx, address)
	}
	return found, err
}

func (f *Fetcher) fetchIndex(ctx context.Context, address string) (index, error) {
	base, err := parseURL(address)
	if err != nil {
		return index{}, err
	}
	base = base.JoinPath("/") // so that what is relative is relative to the directory
	server := newWeb(f.access, base, f.credentials)
	content, err := server.get(ctx, base.JoinPath("index.yaml").String(), maxIndex)
	if err != nil {
		return index{}, err
	}
	f.mu.Lock()
	f.values += min(yamlnode.MostValues(content), maxIndexValues)
	isTooMuch := f.values > maxAllValues
	f.mu.Unlock()
	if isTooMuch {
		return index{}, fmt.Errorf("the index.yaml of all repositories may have more than %d values", maxAllValues)
	}
	found, err := parseIndex(base, content)
	found.web = server
	return found, err
}

// Bounds of an index.yaml, in bytes and in values, and of the values of all: what is parsed stays in memory.
const (
	maxIndex       = 32 << 20
	maxIndexValues = 5_000_000
	maxAllValues   = 10_000_000
)

// entry is a version of a chart in an index.
type entry struct {
	url string
	// digest is empty if the index has none.
	digest digest.Digest
}

// index is the index.yaml of a repository.
type index struct {
	base    *url.URL
	entries *yaml.Node
	// web gets the archives: what they lead to depends on the host of the index.
	web web
	// parsed has the versions of charts, each a func() versions, by the node of their list.
	parsed *sync.Map
}

func parseIndex(base *url.URL, content []byte) (index, error) {
	if most := yamlnode.MostValues(content); most > maxIndexValues {
		return index{}, fmt.Errorf("its index.yaml may have more than %d values", maxIndexValues)
	}
	root, err := yamlnode.First(content)
	if err != nil {
		return index{}, fmt.Errorf("its index.yaml is not valid: %w", err)
	}
	entries := yamlnode.Lookup(root, "entries")
	if entries == nil || entries.Kind != yaml.MappingNode {
		return index{}, fmt.Errorf("its index.yaml has no mapping entries")
	}
	return index{base: base, entries: entries, parsed: &sync.Map{}}, nil
}

// find returns the version of a chart that Helm takes.
func (x index) find(name, wanted string) (entry, error) {
	list := yamlnode.Lookup(x.entries, name)
	if list == nil || list.Kind != yaml.SequenceNode {
		return entry{}, fmt.Errorf("its index.yaml has no chart %s", name)
	}
	place, err := x.versions(list).find(wanted)
	if err != nil {
		return entry{}, err
	}
	if place < 0 {
		return entry{}, fmt.Errorf("its index.yaml has no version %s of the chart %s", wanted, name)
	}
	return x.entry(yamlnode.Resolve(list.Content[place]))
}

// versions returns the versions of a chart, which are parsed once.
func (x index) versions(list *yaml.Node) versions {
	known, _ := x.parsed.LoadOrStore(list, sync.OnceValue(func() versions {
		var texts []string
		for _, node := range list.Content {
			text := ""
			if version := yamlnode.Lookup(yamlnode.Resolve(node), "version"); version != nil {
				text = dialect.Key(version)
			}
			texts = append(texts, text)
		}
		return newVersions(texts)
	}))
	return known.(func() versions)()
}

func (x index) entry(node *yaml.Node) (entry, error) {
	urls := yamlnode.Lookup(node, "urls")
	if urls == nil || urls.Kind != yaml.SequenceNode || len(urls.Content) == 0 {
		return entry{}, fmt.Errorf("its index.yaml has no URL of the archive")
	}
	address, _ := yamlnode.Text(yamlnode.Resolve(urls.Content[0]))
	reference, err := url.Parse(address)
	if err != nil || address == "" {
		return entry{}, fmt.Errorf("its index.yaml has a URL of the archive that is none")
	}
	e := entry{url: x.base.ResolveReference(reference).String()}
	if sum := yamlnode.TextAt(node, "digest"); sum != "" {
		e.digest = digest.Digest("sha256:" + strings.TrimPrefix(sum, "sha256:"))
		if err := e.digest.Validate(); err != nil {
			return entry{}, fmt.Errorf("its index.yaml has a digest of the archive that is none")
		}
	}
	return e, nil
}
