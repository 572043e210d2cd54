// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-dev/winnow/test/stack"
)

func pick[T any](k *soak, from []T) T { return from[k.rand.IntN(len(from))] }

// without and with return a sorted copy.
func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

func with(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(slices.Clone(names), name)
}

func (k *soak) drawPart() *modelPart { return pick(k, k.model.parts) }

// drawOf draws one of the parts for which a step makes sense.
func (k *soak) drawOf(suits func(*modelPart) bool) (*modelPart, bool) {
	parts := slices.DeleteFunc(slices.Clone(k.model.parts), func(p *modelPart) bool { return !suits(p) })
	if len(parts) == 0 {
		return nil, false
	}
	return pick(k, parts), true
}

func (k *soak) drawTwo() (*modelPart, *modelPart) {
	shuffled := slices.Clone(k.model.parts)
	k.rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return shuffled[0], shuffled[1]
}

// drawRevision returns a pushed revision, or pushes a new one, and sets it as the source of Flux in the
// model.
func (k *soak) drawRevision(catalog string) (catalogRevision, string) {
	if k.rand.IntN(4) == 0 {
		revision := pick(k, k.revisions[catalog])
		k.model.catalogs[catalog] = revision
		return revision, fmt.Sprintf("release %s %s again", catalog, revision.tag)
	}
	apps := maps.Clone(k.model.catalogs[catalog].apps)
	var did []string
	for range 1 + k.rand.IntN(3) {
		did = append(did, k.changeCatalog(apps))
	}
	tag := fmt.Sprintf("r%d", len(k.revisions[catalog]))
	revision := k.pushRevision(catalog, tag, apps)
	k.model.catalogs[catalog] = revision
	return revision, fmt.Sprintf("release %s %s (%s)", catalog, tag, strings.Join(did, ", "))
}

// changeCatalog changes one application of at most eight.
func (k *soak) changeCatalog(catalog map[string]app) string {
	name := k.drawName()
	a, there := catalog[name]
	draw := k.rand.IntN(10)
	switch {
	case !there:
		catalog[name] = app{name: name, tier: k.drawTier(), versions: []string{"1.1.0", "2.0.0"}, values: k.drawValues()}
		return "add " + name
	case draw < 2 && len(catalog) > 1:
		delete(catalog, name)
		return "remove " + name
	case draw < 4:
		a.tier = k.drawTier()
	case draw < 7:
		a.versions = k.drawVersions(a.versions)
	default:
		a.values = k.drawValues()
	}
	catalog[name] = a
	return fmt.Sprintf("%s is %s %v %s", name, a.tier, a.versions, a.values)
}

// drawName returns the name of an application, often of an orphan.
func (k *soak) drawName() string {
	if orphans := k.model.orphans(); len(orphans) > 0 && k.rand.IntN(3) == 0 {
		return pick(k, orphans)
	}
	return string(rune('a' + k.rand.IntN(8)))
}

func (k *soak) drawTier() string {
	return pick(k, []string{"gold", "gold", "gold", "silver", "silver", "bronze", "GOLD"})
}
func (k *soak) drawValues() string { return strconv.Itoa(k.rand.IntN(1000)) }

// drawVersions adds or removes a version. It never removes the last one.
func (k *soak) drawVersions(versions []string) []string {
	version := pick(k, []string{"1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0"})
	i, there := slices.BinarySearch(versions, version)
	switch {
	case !there:
		return slices.Insert(slices.Clone(versions), i, version)
	case len(versions) > 1:
		return slices.Delete(slices.Clone(versions), i, i+1)
	}
	return versions
}

// drawFlip starts or ends the bypass of a live definition in the model.
func (k *soak) drawFlip() (name, did string) {
	l, lives := k.model.live[k.drawName()]
	if !lives {
		l = k.model.live[pick(k, slices.Sorted(maps.Keys(k.model.live)))]
	}
	publishers := 0
	for _, p := range k.model.parts {
		if p.publishes(l.name) {
			publishers++
		}
	}
	// Of two that publish a bypassed definition, the one that applies it first when the bypass ends holds it: which, is not defined.
	if l.bypassed = !l.bypassed || publishers > 1; l.bypassed {
		return l.name, "bypass " + l.name
	}
	return l.name, "no longer bypass " + l.name
}

// drawEdit returns an edit of the limit of a part. It uses only tiers of the catalog.
func (k *soak) drawEdit(p *modelPart) (string, func(*modelSpec)) {
	if k.rand.IntN(2) == 0 {
		tiers := pick(k, [][]string{{"gold", "silver"}, {"gold", "silver"}, {"gold"}, {"silver"}, {"gold", "silver", "bronze"}})
		tiers = slices.DeleteFunc(slices.Clone(tiers), func(tier string) bool {
			for _, a := range k.model.catalogs[p.catalog].apps {
				if a.tier == tier {
					return false
				}
			}
			return tier != "gold"
		})
		if len(tiers) == 0 {
			tiers = []string{"gold"}
		}
		return fmt.Sprintf("%s has tiers %v", p.name, tiers), func(s *modelSpec) { s.tiers = tiers }
	}
	name := k.drawName()
	if own := append(slices.Clone(p.spec.excluded), p.spec.names...); k.rand.IntN(4) > 0 {
		name = pick(k, own)
	}
	return p.name + " excludes or not " + name, func(s *modelSpec) {
		if slices.Contains(s.excluded, name) {
			s.excluded = without(s.excluded, name)
		} else {
			s.excluded = with(s.excluded, name)
		}
	}
}

// catalogName returns the name of an application in a catalog. The Kustomization of the second one adds
// the prefix.
func catalogName(catalog, name string) string {
	if catalog == "second" {
		return name
	}
	return soakName + "-" + name
}

// pushRevision pushes a catalog under a tag.
func (k *soak) pushRevision(catalog, tag string, apps map[string]app) catalogRevision {
	dir := k.t.TempDir()
	for _, a := range apps {
		a.name = catalogName(catalog, a.name)
		writeApp(k.t, filepath.Join(dir, "applications", a.name), a)
	}
	digest, err := system.PushCatalog(k.t.Context(), dir, soakName+"-"+catalog+":"+tag, stack.PushOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	revision := catalogRevision{tag, digest.String(), apps}
	k.revisions[catalog] = append(k.revisions[catalog], revision)
	return revision
}
