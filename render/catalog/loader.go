// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/winnow-dev/winnow/render/catalog/document"
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/parallel"
)

// loader has what the loaders of formats share: it reads applications in parallel, and reports what they break together.
type loader struct {
	fsys   fs.FS
	cache  *ParseCache
	ledger ledger

	mu     sync.Mutex
	report violation.Report
}

// finish returns a loaded catalog unless a violation was reported.
func (l *loader) finish(loaded *Catalog, err error) (*Catalog, error) {
	if err != nil {
		return nil, fmt.Errorf("loading catalog: %w", err)
	}
	l.ledger.check(&l.report)
	if err := l.report.Err(); err != nil {
		return nil, err
	}
	loaded.kept = l.ledger.kept.Load()
	loaded.parsed = l.ledger.parsed.Load() + l.cache.preparsed
	return loaded, nil
}

// merge reports findings at once: what all files break together would be much to keep.
func (l *loader) merge(found ...violation.Findings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range found {
		l.report.Merge(one)
	}
}

// candidate is what should be an application.
type candidate struct {
	application *Application
	files       parsedFiles
	err         error
}

// candidates makes n of them on all cores. What is reported does not depend on which is ready first.
func (l *loader) candidates(ctx context.Context, n int, read func(int) candidate) ([]candidate, error) {
	all := make([]candidate, n)
	err := parallel.For(ctx, n, func(i int) { all[i] = read(i) })
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if one.err != nil {
			return nil, one.err
		}
	}
	l.distinctKinds(all)
	l.fewKinds(all)
	return all, nil
}

// unique returns a catalog of the applications, sorted by name, and reports those that share one.
func (l *loader) unique(candidates []candidate) *Catalog {
	first := make(map[string]*Application, len(candidates))
	var all []candidate
	for _, one := range candidates {
		name := one.application.Name
		if name == "" {
			continue
		}
		if other, taken := first[name]; taken {
			line := one.application.Above + one.files.nameLine
			l.report.AddTo(violation.RuleDuplicateName, one.application.Path, line, "metadata.name %s is taken by %s", excerpt.Quoted(name), other.Path)
			continue
		}
		first[name] = one.application
		all = append(all, one)
	}
	slices.SortFunc(all, func(x, y candidate) int { return cmp.Compare(x.application.Name, y.application.Name) })
	c := &Catalog{Applications: make([]*Application, len(all)), files: make([]parsedFiles, len(all))}
	for i, one := range all {
		c.Applications[i], c.files[i] = one.application, one.files
	}
	return c
}

// parse parses a document, and counts its aliases, which may add so many nodes.
func (l *loader) parse(data []byte, maxAliased int, found *violation.Findings) *document.Document {
	parsed := document.Parse(data, maxAliased, found)
	l.ledger.aliased.Add(int64(parsed.Size.Aliased))
	l.ledger.parsed.Add(1)
	return parsed
}

// distinctKinds reports definitions of Cozystack that install the same kind: its API server would
// serve either one (cozystack#4361). The applications are in the order of their paths.
func (l *loader) distinctKinds(candidates []candidate) {
	type served struct{ group, kind string }
	first := map[served]*Application{}
	for _, one := range candidates {
		kind := one.application.installs.kind
		if kind == "" {
			continue
		}
		key := served{one.application.Group, kind}
		if other, taken := first[key]; taken {
			l.report.AddTo(violation.RuleDuplicateKind, one.application.Path, one.application.installs.line, "spec.application.kind %s is taken by %s", excerpt.Quoted(kind), other.Path)
			continue
		}
		first[key] = one.application
	}
}

// maxKinds bounds the kinds of a catalog: the definitions of each are watched.
const maxKinds = 16

// fewKinds reports the first application of each kind that is too many.
func (l *loader) fewKinds(candidates []candidate) {
	seen := map[string]bool{}
	for _, one := range candidates {
		group := one.application.Group // the kind is the same of all
		if group == "" || seen[group] {
			continue
		}
		seen[group] = true
		if len(seen) > maxKinds {
			l.report.Add(one.application.Path, "has the API group %s, which makes %d kinds of definitions: a catalog has at most %d",
				excerpt.Quoted(group), len(seen), maxKinds)
		}
	}
}
