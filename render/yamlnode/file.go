// SPDX-License-Identifier: Apache-2.0

package yamlnode

import "path"

// IsYAML reports whether a file has the name of one of YAML.
func IsYAML(name string) bool {
	extension := path.Ext(name)
	return extension == ".yaml" || extension == ".yml"
}

// IsYAMLOrJSON reports whether a file has the name of one of YAML or JSON.
func IsYAMLOrJSON(name string) bool { return IsYAML(name) || path.Ext(name) == ".json" }
