// SPDX-License-Identifier: Apache-2.0

package bundle

// KindCSV is the kind of the object that describes the operator, and crdKind that of definitions.
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
