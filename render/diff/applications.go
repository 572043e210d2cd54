package diff

import (
	"cmp"
	"slices"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/guard"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// differ compares the applications of two sides.
type differ struct {
	from, to  *Side
	byCatalog map[loss]bool
	// stranded maps the packages of operators to the versions that each channel strands.
	stranded map[safeguard.Key]map[string][]string
	// elsewhere has the versions that stay and come from another source; the version is empty for a
	// definition as a whole.
	elsewhere map[loss]bool
	// budget is the number of bytes that diffs may still take.
	budget int

	older, newer map[safeguard.Key]render.Object
}

// loss is a removed definition, or a removed version of one.
type loss struct {
	key     safeguard.Key
	version string
}

// causes returns the losses that the catalog causes.
func causes(changes []safeguard.Change) map[loss]bool {
	losses := map[loss]bool{}
	for _, c := range changes {
		switch c.Reason {
		case v1alpha1.RemovalReason:
			losses[loss{key: c.Key}] = true
		case v1alpha1.VersionRemovalReason:
			for _, version := range c.Versions {
				losses[loss{c.Key, version}] = true
			}
		}
	}
	return losses
}

// elsewhere returns the versions whose source the safeguards find changed.
func elsewhere(changes []safeguard.Change) map[loss]bool {
	found := map[loss]bool{}
	for _, c := range changes {
		if c.Reason != v1alpha1.SourceChangeReason {
			continue
		}
		if len(c.Versions) == 0 {
			found[loss{key: c.Key}] = true
		}
		for _, version := range c.Versions {
			found[loss{c.Key, version}] = true
		}
	}
	return found
}

// cause returns the cause of the loss of a definition or, where it stays, of one of its versions.
func (d *differ) cause(key safeguard.Key, version string) Cause {
	switch {
	case !d.byCatalog[loss{key: key}] && !d.byCatalog[loss{key, version}]:
		return CauseSpec
	case guard.UnmetBy(key, version, d.to.Result.Selection):
		return CausePlatform
	}
	return CauseCatalog
}

// applications sets the change of each application.
func (d *differ) applications(out *Selection) error {
	older, newer := safeguard.ByKey(d.from.definitions()), safeguard.ByKey(d.to.definitions())
	if err := d.build(older, newer); err != nil {
		return err
	}
	notices := d.notices()
	var all []Application
	for key, before := range older {
		after, stays := newer[key]
		if !stays {
			all = append(all, d.removed(before))
			continue
		}
		a := d.kept(before, after)
		if notices.set(&a) || a.Change != Unchanged {
			all = append(all, a)
		} else {
			out.Counts.Unchanged++
		}
	}
	for key, after := range newer {
		if _, stays := older[key]; !stays {
			a := newApplication(after, Added)
			for _, version := range after.Versions {
				a.Versions = append(a.Versions, Version{Version: version, Change: Added})
			}
			notices.set(&a)
			all = append(all, a)
		}
	}
	contents, unchanged := d.contents(notices, out.SpecChanged)
	all = append(all, contents...)
	out.Counts.Unchanged += unchanged
	slices.SortFunc(all, func(a, b Application) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
	})
	for i := range all {
		d.values(&all[i])
		out.Counts.add(all[i])
	}
	out.Applications = append(out.Applications, all...)
	return nil
}

// build builds the objects that are removed or may differ.
func (d *differ) build(older, newer map[safeguard.Key]safeguard.Definition) error {
	if d.from == nil || d.to == nil {
		return nil
	}
	var gone, both []string
	for key := range older {
		if _, stays := newer[key]; !stays {
			gone = append(gone, key.Name)
		} else if !d.from.Result.Same(d.to.Result, key.Name) {
			both = append(both, key.Name)
		}
	}
	var err error
	if d.older, err = objects(d.from, slices.Concat(gone, both)); err != nil {
		return err
	}
	d.newer, err = objects(d.to, both)
	return err
}

func objects(side *Side, names []string) (map[safeguard.Key]render.Object, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return side.Result.Objects(sorted(names))
}

func newApplication(d safeguard.Definition, change Change) Application {
	return Application{
		Name: d.Name, APIVersion: d.APIVersion, Kind: d.Kind, Source: d.Source, Change: change,
		Versions: []Version{}, Fields: []Field{}, Unmirrored: []Host{},
	}
}

// kept compares the objects of an application that stays.
func (d *differ) kept(before, after safeguard.Definition) Application {
	a := newApplication(after, Unchanged)
	older, newer := d.older[after.Key()], d.newer[after.Key()]
	if older == nil || newer == nil {
		return a
	}
	fields := fieldsOf(older, newer)
	if len(fields) == 0 {
		return a
	}
	a.Change = Updated
	a.Versions = append(a.Versions, d.versions(after.Key(), older, newer)...)
	a.SourceChanged = d.elsewhere[loss{key: after.Key()}]
	a.Highest = step(before.Versions, after.Versions)
	a.other(fields, older, newer)
	return a
}

func (c *Counts) add(a Application) {
	switch a.Change {
	case Added:
		c.Added++
	case Removed:
		c.Removed++
		if a.Deleted != nil && *a.Deleted {
			c.Deleted++
		}
	case Updated:
		c.Updated++
	default:
		c.Unchanged++
	}
	c.versions(a)
	if a.Adopted {
		c.Adopted++
	}
	if a.Deprecated != "" {
		c.Deprecated++
	}
	c.VersionsDeprecated += len(a.DeprecatedVersions)
	if len(a.Unmirrored) > 0 || a.Unsearched != "" {
		c.Unmirrored++
	}
}

// versions counts the versions of applications that stay.
func (c *Counts) versions(a Application) {
	if a.Change != Updated {
		return
	}
	for _, v := range a.Versions {
		switch v.Change {
		case Added:
			c.VersionsAdded++
		case Removed:
			c.VersionsRemoved++
		case Replaced:
			c.VersionsReplaced++
		}
		if v.SourceChanged {
			c.SourceChanges++
		}
	}
	if a.Highest == nil {
		return
	}
	switch a.Highest.Kind {
	case StepMajor:
		c.Major++
	case StepMinor:
		c.Minor++
	case StepPatch:
		c.Patch++
	}
}
