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

// drawRevision returns a revision that was pushed before, or pushes a new one.
func (k *soak) drawRevision() (catalogRevision, string) {
	if k.rand.IntN(4) == 0 {
		revision := pick(k, k.revisions)
		return revision, "release " + revision.tag + " again"
	}
	catalog := map[string]app{}
	for _, a := range k.model.source.apps {
		catalog[a.name] = a
	}
	var did []string
	for range 1 + k.rand.IntN(3) {
		did = append(did, k.changeCatalog(catalog))
	}
	apps := slices.SortedFunc(maps.Values(catalog), func(a, b app) int { return strings.Compare(a.name, b.name) })
	tag := fmt.Sprintf("r%d", len(k.revisions))
	return k.pushRevision(tag, apps), "release " + tag + " (" + strings.Join(did, ", ") + ")"
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
	case draw < 8:
		a.versions = k.drawVersions(a.versions)
	default:
		a.values = k.drawValues()
	}
	catalog[name] = a
	return fmt.Sprintf("%s is %s %v %s", name, a.tier, a.versions, a.values)
}

// drawName returns the name of an application, often that of one which was orphaned.
func (k *soak) drawName() string {
	if orphans := k.model.orphans(); len(orphans) > 0 && k.rand.IntN(3) == 0 {
		return pick(k, orphans)
	}
	return "soak-" + string(rune('a'+k.rand.IntN(8)))
}

func (k *soak) drawTier() string {
	return pick(k, []string{"gold", "gold", "gold", "silver", "silver", "bronze", "GOLD"})
}
func (k *soak) drawValues() string { return strconv.Itoa(k.rand.IntN(1000)) }

// drawVersions adds a version or removes it; the last one stays.
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

// drawFlip bypasses a live definition in the model, or ends that.
func (k *soak) drawFlip() (name, did string) {
	l, lives := k.model.live[k.drawName()]
	if !lives {
		l = k.model.live[pick(k, slices.Sorted(maps.Keys(k.model.live)))]
	}
	if l.bypassed = !l.bypassed; l.bypassed {
		return l.name, "bypass " + l.name
	}
	return l.name, "no longer bypass " + l.name
}

func (k *soak) drawEdit() (string, func(*modelSpec)) {
	if k.rand.IntN(2) == 0 {
		tiers := pick(k, [][]string{{"gold", "silver"}, {"gold", "silver"}, {"gold"}, {"silver"}, {"gold", "silver", "bronze"}})
		return fmt.Sprintf("tiers %v", tiers), func(s *modelSpec) { s.tiers = tiers }
	}
	name := k.drawName()
	if excluded := k.model.spec.excluded; len(excluded) > 1 {
		name = pick(k, excluded)
	}
	return "exclude or not " + name, func(s *modelSpec) {
		if i := slices.Index(s.excluded, name); i >= 0 {
			s.excluded = slices.Delete(slices.Clone(s.excluded), i, i+1)
		} else {
			s.excluded = append(slices.Clone(s.excluded), name)
		}
	}
}

// approve adds a checksum; the API takes 64.
func approve(s *modelSpec, digest string) {
	if !slices.Contains(s.approved, digest) {
		s.approved = append(slices.Clone(s.approved[max(0, len(s.approved)-63):]), digest)
	}
}

func pick[T any](k *soak, from []T) T { return from[k.rand.IntN(len(from))] }

// pushRevision pushes a catalog under a tag.
func (k *soak) pushRevision(tag string, apps []app) catalogRevision {
	dir := k.t.TempDir()
	for _, a := range apps {
		writeApp(k.t, filepath.Join(dir, "applications", a.name), a)
	}
	digest, err := system.PushCatalog(k.t.Context(), dir, k.name+":"+tag, stack.PushOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	revision := catalogRevision{tag, digest.String(), apps}
	k.revisions = append(k.revisions, revision)
	return revision
}
