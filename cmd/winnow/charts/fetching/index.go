// SPDX-License-Identifier: Apache-2.0

package fetching

import (
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/opencontainers/go-digest"
	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

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
