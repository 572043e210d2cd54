// SPDX-License-Identifier: Apache-2.0

// Package removedapis has the APIs that releases of Kubernetes have removed, and finds objects of them in manifests that are not
// trusted. It must not know charts.
package removedapis

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// API is a version of kinds that Kubernetes does not serve any more.
type API struct {
	Version string
	Kinds   []string
	// Minor is the release 1.Minor that does not serve it.
	Minor uint
	// Instead is the version that takes its place; empty without one.
	Instead string
}

// table has what https://kubernetes.io/docs/reference/using-api/deprecation-guide/ lists, by release.
var table = []API{
	{"apps/v1beta1", []string{"Deployment", "StatefulSet"}, 16, "apps/v1"},
	{"apps/v1beta2", []string{"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}, 16, "apps/v1"},
	{"extensions/v1beta1", []string{"DaemonSet", "Deployment", "ReplicaSet"}, 16, "apps/v1"},
	{"extensions/v1beta1", []string{"NetworkPolicy"}, 16, "networking.k8s.io/v1"},
	{"extensions/v1beta1", []string{"PodSecurityPolicy"}, 16, ""},

	{"admissionregistration.k8s.io/v1beta1", []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}, 22, "admissionregistration.k8s.io/v1"},
	{"apiextensions.k8s.io/v1beta1", []string{"CustomResourceDefinition"}, 22, "apiextensions.k8s.io/v1"},
	{"apiregistration.k8s.io/v1beta1", []string{"APIService"}, 22, "apiregistration.k8s.io/v1"},
	{"authentication.k8s.io/v1beta1", []string{"TokenReview"}, 22, "authentication.k8s.io/v1"},
	{"authorization.k8s.io/v1beta1", []string{"LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"}, 22, "authorization.k8s.io/v1"},
	{"certificates.k8s.io/v1beta1", []string{"CertificateSigningRequest"}, 22, "certificates.k8s.io/v1"},
	{"coordination.k8s.io/v1beta1", []string{"Lease"}, 22, "coordination.k8s.io/v1"},
	{"extensions/v1beta1", []string{"Ingress"}, 22, "networking.k8s.io/v1"},
	{"networking.k8s.io/v1beta1", []string{"Ingress", "IngressClass"}, 22, "networking.k8s.io/v1"},
	{"rbac.authorization.k8s.io/v1beta1", []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}, 22, "rbac.authorization.k8s.io/v1"},
	{"scheduling.k8s.io/v1beta1", []string{"PriorityClass"}, 22, "scheduling.k8s.io/v1"},
	{"storage.k8s.io/v1beta1", []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"}, 22, "storage.k8s.io/v1"},

	{"autoscaling/v2beta1", []string{"HorizontalPodAutoscaler"}, 25, "autoscaling/v2"},
	{"batch/v1beta1", []string{"CronJob"}, 25, "batch/v1"},
	{"discovery.k8s.io/v1beta1", []string{"EndpointSlice"}, 25, "discovery.k8s.io/v1"},
	{"events.k8s.io/v1beta1", []string{"Event"}, 25, "events.k8s.io/v1"},
	{"node.k8s.io/v1beta1", []string{"RuntimeClass"}, 25, "node.k8s.io/v1"},
	{"policy/v1beta1", []string{"PodDisruptionBudget"}, 25, "policy/v1"},
	{"policy/v1beta1", []string{"PodSecurityPolicy"}, 25, ""},

	{"autoscaling/v2beta2", []string{"HorizontalPodAutoscaler"}, 26, "autoscaling/v2"},
	{"flowcontrol.apiserver.k8s.io/v1beta1", []string{"FlowSchema", "PriorityLevelConfiguration"}, 26, "flowcontrol.apiserver.k8s.io/v1"},

	{"storage.k8s.io/v1beta1", []string{"CSIStorageCapacity"}, 27, "storage.k8s.io/v1"},

	{"flowcontrol.apiserver.k8s.io/v1beta2", []string{"FlowSchema", "PriorityLevelConfiguration"}, 29, "flowcontrol.apiserver.k8s.io/v1"},

	{"flowcontrol.apiserver.k8s.io/v1beta3", []string{"FlowSchema", "PriorityLevelConfiguration"}, 32, "flowcontrol.apiserver.k8s.io/v1"},
}

// find returns the API of a kind that a version of Kubernetes does not serve; nil if it serves the kind, or if it is not known.
func find(apiVersion, kind string, kubernetes *version.Version) *API {
	for i, api := range table {
		if api.Version == apiVersion && kubernetes.AtLeast(version.MajorMinor(1, api.Minor)) && slices.Contains(api.Kinds, kind) {
			return &table[i]
		}
	}
	return nil
}

// Serves reports whether a version of Kubernetes may serve a version of an API group: not if it has removed all kinds of it that it
// served without a flag.
func Serves(apiVersion string, kubernetes *version.Version) bool {
	known := each.Where(table, func(api API) bool { return api.Version == apiVersion })
	return len(known) == 0 || slices.ContainsFunc(known, func(api API) bool { return !kubernetes.AtLeast(version.MajorMinor(1, api.Minor)) })
}

// Object is one of an API that Kubernetes does not serve any more.
type Object struct {
	API

	Kind, Name string
}

// maxValues bounds the values of a manifest that is read, in number.
const maxValues = 2_000_000

// Objects returns the objects of a manifest, and of the lists in it, that a version of Kubernetes does not serve. The error says why
// the manifest cannot be read to its end.
func Objects(manifest, kubernetes string) (all []Object, err error) {
	parsed, err := version.ParseGeneric(kubernetes)
	if err != nil {
		return nil, fmt.Errorf("the version of Kubernetes: %w", err)
	}
	if yamlnode.MostValues([]byte(manifest)) > maxValues {
		return nil, fmt.Errorf("it may have more than %d values", maxValues)
	}
	for document, err := range yamlnode.Documents([]byte(manifest)) {
		if err != nil {
			return all, err
		}
		content := document.Content[0]
		if _, bounded := yamlnode.Check(content, yamlnode.MaxAliased, func(int, string, ...any) {}); !bounded {
			return all, errors.New("it is nested too deep, too large, or its aliases are")
		}
		objects := []*yaml.Node{content}
		if items := yamlnode.Lookup(content, "items"); items != nil && items.Kind == yaml.SequenceNode {
			objects = append(objects, items.Content...)
		}
		for _, o := range objects {
			o = yamlnode.Resolve(o)
			apiVersion, kind := yamlnode.TextAt(o, "apiVersion"), yamlnode.TextAt(o, "kind")
			if api := find(apiVersion, kind, parsed); api != nil {
				all = append(all, Object{*api, kind, yamlnode.TextAt(o, "metadata", "name")})
			}
		}
	}
	return all, nil
}
