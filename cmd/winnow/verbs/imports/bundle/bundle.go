// SPDX-License-Identifier: Apache-2.0

// Package bundle reads bundles of operators in OLM's format registry+v1: an fs.FS goes in, a Bundle or the list of everything
// that is wrong with it comes out. It reads what `opm render` reads, within bounds, and refuses what `opm alpha bundle
// validate` or OLM v1 refuse. It must not know registries, flags and what is made of a bundle.
package bundle

import "encoding/json"

// The directories of a bundle.
const (
	ManifestsDirectory = "manifests"
	MetadataDirectory  = "metadata"
)

// The files of the metadata. opm takes the content of any file there, OLM v1 these names only.
const (
	annotationsFile  = MetadataDirectory + "/annotations.yaml"
	dependenciesFile = MetadataDirectory + "/dependencies.yaml"
	propertiesFile   = MetadataDirectory + "/properties.yaml"
)

// The types of dependencies and properties that OLM defines, as far as they are converted.
const (
	TypePackage = "olm.package"
	TypeGVK     = "olm.gvk"
)

// Bundle is a version of an operator.
type Bundle struct {
	// Package and Channels of its annotations. There is at least one channel.
	Package  string
	Channels []string
	// DefaultChannel is empty where the bundle does not name one.
	DefaultChannel string
	// CSV is the one ClusterServiceVersion among Objects.
	CSV CSV
	// Objects in the order of the names of their files.
	Objects []Object
	// Provided are the APIs of the CustomResourceDefinitions, in the order of Objects.
	Provided []API
	// Dependencies of metadata/dependencies.yaml, Properties of metadata/properties.yaml, and OwnProperties of the CSV.
	Dependencies, Properties, OwnProperties []Property
}

// Object is a manifest.
type Object struct {
	// Path of its file.
	Path string
	Kind string
	Name string
	// JSON has sorted keys, and numbers as the API server stores them.
	JSON []byte
}

// Property is a typed value. A dependency has the same shape.
type Property struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// KindCSV is the kind of the object that describes the operator, and crdKind of definitions.
const (
	KindCSV = "ClusterServiceVersion"
	crdKind = "CustomResourceDefinition"
)

// scopes maps the kinds that a bundle may have to whether OLM sets their namespace. It is the list of operator-registry
// v1.73.0, which also has VerticalPodAutoscaler as a kind without a namespace.
var scopes = map[string]bool{
	KindCSV: true, crdKind: false,
	"ClusterRole": false, "ClusterRoleBinding": false, "Role": true, "RoleBinding": true, "ServiceAccount": true,
	"ConfigMap": true, "Secret": true, "Service": true, "NetworkPolicy": true,
	"PodDisruptionBudget": true, "PriorityClass": false, "VerticalPodAutoscaler": false,
	"PrometheusRule": true, "ServiceMonitor": true, "PodMonitor": true,
	"ConsoleCLIDownload": false, "ConsoleLink": false, "ConsolePlugin": false, "ConsoleQuickStart": false, "ConsoleYAMLSample": false,
}

// IsNamespaced reports whether OLM creates the objects of a kind in the namespace of the operator.
func IsNamespaced(kind string) bool { return scopes[kind] }
