// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// content is what the model knows of a catalog, an artifact or a cluster: versions by the names of definitions.
type content map[string][]string

// items are what can be lost: names, and names with versions.
func (c content) items() map[string]bool {
	all := map[string]bool{}
	for name, versions := range c {
		all[name] = true
		for _, version := range versions {
			all[name+"/"+version] = true
		}
	}
	return all
}

// lost returns the items that the other content lacks, sorted.
func (c content) lost(other content) []string {
	is := other.items()
	var lost []string
	for item := range c.items() {
		if !is[item] {
			lost = append(lost, item)
		}
	}
	slices.Sort(lost)
	return lost
}

// losses returns what the other content lacks in the lines that name it, sorted: a name, or a version of a name that stays.
func (c content) losses(other content) []string {
	return slices.DeleteFunc(c.lost(other), func(item string) bool {
		name, _, isVersion := strings.Cut(item, "/")
		return isVersion && other[name] == nil
	})
}

// unnamed returns the losses that no line names: it is the same but for its number, or stands for any version of a name.
func unnamed(losses, lines []string) []string {
	named := bodies(lines)
	return slices.DeleteFunc(slices.Clone(losses), func(loss string) bool {
		name, _, isVersion := strings.Cut(loss, "/")
		return slices.Contains(named, loss) || isVersion && slices.Contains(named, name+"/*")
	})
}

// bodies returns lines without their numbers, sorted.
func bodies(lines []string) []string {
	var all []string
	for _, line := range lines {
		body, _, _ := strings.Cut(line, "#")
		all = append(all, body)
	}
	slices.Sort(all)
	return all
}

// without returns the content without some names.
func (c content) without(names []string) content {
	kept := maps.Clone(c)
	for _, name := range names {
		delete(kept, name)
	}
	return kept
}

// clone copies the content, which is edited then.
func (c content) clone() content {
	copied := content{}
	for name, versions := range c {
		copied[name] = slices.Clone(versions)
	}
	return copied
}

// files returns the files of a catalog. note is a value in each definition.
func (c content) files(note int) map[string]string {
	files := map[string]string{}
	for name, versions := range c {
		var text strings.Builder
		fmt.Fprintf(&text, "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: %s\nspec:\n  method: helm\n"+
			"  description: Of the model.\n  defaultValuesBlock: |\n    note: %d\n  versions:\n", name, note)
		for _, version := range versions {
			fmt.Fprintf(&text, "  - version: %s\n    template:\n      source:\n        helm:\n          url: https://charts.example.com\n"+
				"          chartName: %s\n          chartVersion: %s\n", version, name, version)
		}
		files["applications/"+name+"/application.yaml"] = text.String()
	}
	return files
}
