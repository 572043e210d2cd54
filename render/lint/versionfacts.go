package lint

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/spelling"
)

// versionFactKeys are those of a version in a metadata.yaml that mean something.
func versionFactKeys() []string { return []string{"channels", "deprecated", "requires"} }

// factsOfVersions returns the entries of the member versions of a metadata.yaml.
func factsOfVersions(d *definition) []entry { return d.metadata.get(metadata.VersionsKey).members() }

// meantAsVersions reports whether a key that is like versions is a misspelt one: a version as a text is not.
func meantAsVersions(key entry) bool { return key.isSet() && key.node.Kind == yaml.MappingNode }

// misspeltFact finds what silently takes a version out of a channel, or has it published where it does not run.
func misspeltFact(d *definition, report reportAt) {
	for _, version := range factsOfVersions(d) {
		for _, key := range version.members() {
			if meant := spelling.Typo(key.name, versionFactKeys()); meant != "" && meant != key.name {
				report(d, d.metadataPath, key.line, "%s of the version %s is a key that only expressions can read: did you mean %s?",
					quote(key.name), quote(version.name), meant)
			}
		}
	}
}

// unknownVersion reports facts on versions that the application does not have.
func unknownVersion(c *corpus, report reportAt) {
	for _, d := range c.definitions {
		var known []string
		for _, version := range d.root.get("spec", "versions").items() {
			known = append(known, version.get("version").text())
		}
		for _, version := range factsOfVersions(d) {
			if slices.Contains(known, version.name) {
				continue
			}
			advice := "remove the entry"
			if near := spelling.Typo(version.name, known); near != "" {
				advice += ", or did you mean " + quote(near) + "?"
			}
			report(d, d.metadataPath, version.line, "versions has %s, which spec.versions does not have: %s", quote(version.name), advice)
		}
	}
}

// uncheckedRequirement reports requirements on components that no selection can list.
func uncheckedRequirement(c *corpus, report reportAt) {
	known := metadata.Components()
	for _, d := range c.definitions {
		for _, version := range factsOfVersions(d) {
			for _, component := range version.get("requires").members() {
				if slices.Contains(known, component.name) {
					continue
				}
				advice := ""
				if near := spelling.Typo(component.name, known); near != "" {
					advice = ": did you mean " + near + "?"
				}
				report(d, d.metadataPath, component.line, "the version %s requires %s, which spec.platform cannot list, so that nothing checks it%s",
					quote(version.name), quote(component.name), advice)
			}
		}
	}
}
