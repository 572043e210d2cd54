// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/parallel"
)

// Catalog is a catalog with its applications.
type Catalog struct {
	// Name for people, Address without passwords, and Digest of its manifest; the last is empty for files.
	Name, Address, Digest string
	// Source is the name of its OCIRepository, or one for a snippet.
	Source       string
	Applications []*Application
	// Tiers, Labels as key=value, and Lists of its applications, sorted.
	Tiers, Labels, Lists []string
	// Warnings are what it should state and does not.
	Warnings []string

	byKey map[Key]*Application
}

// Key tells applications of a catalog, and of a fleet, apart.
type Key struct{ Kind, Name string }

// KeyOf returns the key of an application.
func KeyOf(a *catalog.Application) Key { return Key{a.Kind, a.Name} }

// NewCatalog returns a loaded catalog. name is its OCIRepository.
func NewCatalog(ctx context.Context, name, address, digest string, loaded *catalog.Catalog) (*Catalog, error) {
	c := &Catalog{
		Name: name, Address: redact.Users(address), Digest: digest, Source: name,
		Applications: make([]*Application, len(loaded.Applications)), byKey: map[Key]*Application{},
	}
	for _, warning := range loaded.Warnings {
		c.Warnings = append(c.Warnings, warning.String())
	}
	addresses, err := render.Refer(ctx, report.Everything(loaded), render.Options{})
	if err != nil {
		return nil, err
	}
	lists := report.ListsByMember(loaded)
	failures := make([]error, len(loaded.Applications))
	err = parallel.For(ctx, len(loaded.Applications), func(i int) {
		c.Applications[i], failures[i] = newApplication(loaded.Applications[i], addresses[i], name)
	})
	if err = cmp.Or(err, errors.Join(failures...)); err != nil {
		return nil, err
	}
	tiers, labels := map[string]bool{}, map[string]bool{}
	for _, a := range c.Applications {
		a.Catalog, a.Lists, c.byKey[Key{a.Kind, a.Name}] = c, lists[a.Name], a
		if a.Tier != "" {
			tiers[a.Tier] = true
		}
		for _, label := range a.Labels {
			labels[label.String()] = true
		}
	}
	c.Tiers, c.Labels, c.Lists = slices.Sorted(maps.Keys(tiers)), slices.Sorted(maps.Keys(labels)), slices.Sorted(maps.Keys(loaded.Lists))
	return c, nil
}

// Find returns an application; nil if the catalog does not have it.
func (c *Catalog) Find(key Key) *Application {
	if c == nil {
		return nil
	}
	return c.byKey[key]
}
