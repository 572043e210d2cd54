package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/winnow-dev/winnow/render/parallel"
)

// loader has what the loaders of formats share.
type loader struct {
	fsys   fs.FS
	ledger ledger

	mu     sync.Mutex
	report report
}

// finish returns a loaded catalog unless a violation was reported.
func (l *loader) finish(loaded *Catalog, err error) (*Catalog, error) {
	if err != nil {
		return nil, fmt.Errorf("loading catalog: %w", err)
	}
	l.ledger.check(&l.report)
	if err := l.report.err(); err != nil {
		return nil, err
	}
	loaded.kept = l.ledger.kept.Load()
	return loaded, nil
}

// merge reports findings at once: what all files break together would be much to keep.
func (l *loader) merge(found ...findings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range found {
		l.report.merge(one)
	}
}

func exists(fsys fs.FS, name string) (bool, error) {
	_, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// candidate is what should be an application.
type candidate struct {
	application *Application
	nameLine    int
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

// unique returns the applications sorted by name and reports those that share one.
func (l *loader) unique(candidates []candidate) []*Application {
	first := make(map[string]*Application, len(candidates))
	var all []*Application
	for _, one := range candidates {
		name := one.application.Name
		if name == "" {
			continue
		}
		if other, taken := first[name]; taken {
			l.report.addTo(RuleDuplicateName, one.application.Path, one.nameLine, "metadata.name %s is taken by %s", quote(name), other.Path)
			continue
		}
		first[name] = one.application
		all = append(all, one.application)
	}
	slices.SortFunc(all, func(x, y *Application) int { return cmp.Compare(x.Name, y.Name) })
	return all
}
