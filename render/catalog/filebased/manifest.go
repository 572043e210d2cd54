// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
)

// clusterServiceVersion returns the spec of a manifest that is one, nil for any other manifest. The manifest may be
// anything.
func clusterServiceVersion(manifest []byte) []byte {
	manifest = bytes.TrimLeftFunc(manifest, unicode.IsSpace)
	if !bytes.Contains(manifest, []byte("ClusterServiceVersion")) {
		return nil
	}
	if _, err := jsontext.Scan(manifest); err != nil {
		return nil
	}
	if kind := jsontext.ValueOf(manifest, "kind"); kind == nil || kind[0] != '"' || jsontext.Unquoted(kind) != "ClusterServiceVersion" {
		return nil
	}
	return jsontext.ValueOf(manifest, "spec")
}

// bundleObject is the value of the property olm.bundle.object: a manifest.
type bundleObject struct {
	Data []byte `json:"data"`
}

// manifestJSON returns a manifest as JSON. One that begins as JSON does is not looked at, as in OLM's tools.
func manifestJSON(manifest []byte) ([]byte, error) {
	if bytes.HasPrefix(bytes.TrimLeftFunc(manifest, unicode.IsSpace), []byte("{")) {
		return manifest, nil
	}
	return jsontext.FromYAML(manifest)
}

// readInstallModes returns the modes that the metadata or the spec of a ClusterServiceVersion support, or else when
// it does not have any.
func readInstallModes(spec []byte, otherwise []string) []string {
	var listed []installMode
	if value := jsontext.ValueOf(spec, "installModes"); value == nil || json.Unmarshal(value, &listed) != nil || len(listed) == 0 {
		return otherwise
	}
	supported := []string{}
	for _, name := range installModes {
		if slices.Contains(listed, installMode{Type: name, Supported: true}) {
			supported = append(supported, name)
		}
	}
	return supported
}

// installModes are the names that OLM knows, sorted.
var installModes = []string{"AllNamespaces", "MultiNamespace", "OwnNamespace", "SingleNamespace"}

// installMode is how a ClusterServiceVersion has it.
type installMode struct {
	Type      string `json:"type"`
	Supported bool   `json:"supported"`
}
