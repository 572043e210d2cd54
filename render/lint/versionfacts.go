// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/corpus"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/spelling"
)

// versionFactKeys are the keys of a version in a metadata.yaml that mean something.
func versionFactKeys() []string {
	return []string{"channels", "deprecated", metadata.LockedKey, "requires"}
}

// factsOfVersions returns the entries of the member versions of a metadata.yaml.
func factsOfVersions(d *corpus.Definition) []field.Entry {
	return d.Metadata.Get(metadata.VersionsKey).Members()
}

// meantAsVersions reports whether a key that is like versions is a misspelt one: a version as a text is not.
func meantAsVersions(key field.Entry) bool { return key.IsSet() && key.Node.Kind == yaml.MappingNode }

// misspeltFact finds what silently takes a version out of a channel, or has it published where it does not run.
func misspeltFact(d *corpus.Definition, report corpus.Report) {
	for _, version := range factsOfVersions(d) {
		for _, key := range version.Members() {
			if meant := spelling.Typo(key.Name, versionFactKeys()); meant != "" && meant != key.Name {
				report(d, d.MetadataPath, key.Line, "%s of the version %s is a key that only expressions can read: did you mean %s?",
					excerpt.Quoted(key.Name), excerpt.Quoted(version.Name), meant)
			}
		}
	}
}

// unknownVersion reports facts on versions that the application does not have.
func unknownVersion(d *corpus.Definition, report corpus.Report) {
	known := definition.Names(definition.Versions(d.Root.Get("spec")))
	for _, version := range factsOfVersions(d) {
		if slices.Contains(known, version.Name) {
			continue
		}
		advice := "remove the entry"
		if near := spelling.Typo(version.Name, known); near != "" {
			advice += ", or did you mean " + excerpt.Quoted(near) + "?"
		}
		report(d, d.MetadataPath, version.Line, "versions has %s, which spec.versions does not have: %s", excerpt.Quoted(version.Name), advice)
	}
}

// uncheckedRequirement reports requirements on components that no selection can list.
func uncheckedRequirement(d *corpus.Definition, report corpus.Report) {
	known := metadata.Components()
	for _, version := range factsOfVersions(d) {
		for _, component := range version.Get("requires").Members() {
			if slices.Contains(known, component.Name) {
				continue
			}
			advice := ""
			if near := spelling.Typo(component.Name, known); near != "" {
				advice = ": did you mean " + near + "?"
			}
			report(d, d.MetadataPath, component.Line, "the version %s requires %s, which spec.platform cannot list, so that nothing checks it%s",
				excerpt.Quoted(version.Name), excerpt.Quoted(component.Name), advice)
		}
	}
}
