package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// MaxVersions bounds the versions of an application, merged ones included.
const MaxVersions = maxVersions

// Merged is the definition of another catalog that adds versions to an application.
type Merged struct {
	// Source is the name of the source that has it.
	Source string
	// From is the definition. It has not been changed.
	From *Application
	// Versions of it that are added, in its order.
	Versions []string
}

// With returns a copy of the application with versions of another definition behind its own. The document
// stays as it is.
func (a *Application) With(added Merged) *Application {
	merged := *a
	merged.Versions = slices.Concat(a.Versions, added.Versions)
	merged.Merged = append(slices.Clip(a.Merged), added)
	merged.Metadata = a.Metadata.with(added)
	return &merged
}

// with returns metadata in which the facts on added versions are those of the catalog that adds them.
func (m Metadata) with(added Merged) Metadata {
	isAdded := func(v Version) bool { return slices.Contains(added.Versions, v.Name) }
	facts := slices.DeleteFunc(slices.Clone(m.Versions), isAdded)
	for _, v := range added.From.Metadata.Versions {
		if isAdded(v) {
			facts = append(facts, v)
		}
	}
	slices.SortFunc(facts, func(v, w Version) int { return cmp.Compare(v.Name, w.Name) })
	m.Versions = facts

	plain := map[string]any{}
	own, _ := m.Extra[VersionsKey].(map[string]any)
	others, _ := added.From.Metadata.Extra[VersionsKey].(map[string]any)
	maps.Copy(plain, own)
	for _, name := range added.Versions {
		delete(plain, name)
		if fact, ok := others[name]; ok {
			plain[name] = fact
		}
	}
	if len(plain) > 0 || len(own) > 0 {
		m.Extra = maps.Clone(m.Extra)
		if m.Extra == nil {
			m.Extra = map[string]any{}
		}
		m.Extra[VersionsKey] = plain
	}
	return m
}

// CheckDocument returns the first reason why kustomize would not carry a document as it is. A document of two
// that it carries may be one that it does not.
func CheckDocument(document []byte) error {
	var found findings
	if root, size := parse(document, documentBounds(), &found); root != nil {
		checkLines(document, &found)
		checkKustomize(&file{data: document, root: root, size: size}, &found)
	}
	if len(found.kept) == 0 {
		return nil
	}
	return fmt.Errorf("line %d %s", found.kept[0].Line, found.kept[0].Message)
}

// mergeSpec adds the entries of merged versions to a parsed spec.
func (a *Application) mergeSpec(spec map[string]any) error {
	for _, added := range a.Merged {
		other, err := added.From.ownSpec()
		if err != nil {
			return fmt.Errorf("reading the versions of the source %s: %w", added.Source, err)
		}
		entries, _ := other["versions"].([]any)
		own, _ := spec["versions"].([]any)
		for _, entry := range entries {
			fields, _ := entry.(map[string]any)
			if version, ok := fields["version"].(string); ok && slices.Contains(added.Versions, version) {
				own = append(own, entry)
			}
		}
		spec["versions"] = own
	}
	return nil
}
