// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"encoding/json"
	"maps"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// object returns a manifest. The namespace is empty for kinds without one.
func object(apiVersion, kind, namespace, name string, fields map[string]any) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	made := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	maps.Copy(made, fields)
	return made
}

// inJSON converts a value to the types of JSON.
func inJSON(value any) (converted any, err error) {
	encoded, err := json.Marshal(value)
	if err == nil {
		err = utiljson.Unmarshal(encoded, &converted)
	}
	return converted, err
}
