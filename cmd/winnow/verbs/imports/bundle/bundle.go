// SPDX-License-Identifier: Apache-2.0

// Package bundle reads bundles of operators in OLM's format registry+v1: an fs.FS goes in, a Bundle or the list of everything
// that is wrong with it comes out. It reads what `opm render` reads, within bounds, and refuses what `opm alpha bundle
// validate` or OLM v1 refuse. It must not know registries, flags and what is made of a bundle.
package bundle

import (
	"encoding/json"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/winnow-dev/winnow/render/each"
)

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

// CSV has the fields of a ClusterServiceVersion that catalogs and manifests need. Its parts have the JSON of OLM's types.
type CSV struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
		Labels      map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Version       string         `json:"version"`
		Release       string         `json:"release"`
		Replaces      string         `json:"replaces"`
		Skips         []string       `json:"skips"`
		Icon          []Icon         `json:"icon"`
		RelatedImages []RelatedImage `json:"relatedImages"`
		Install       struct {
			Strategy string   `json:"strategy"`
			Spec     Strategy `json:"spec"`
		} `json:"install"`
		Webhooks []struct {
			Name string `json:"generateName"`
			Type string `json:"type"`
		} `json:"webhookdefinitions"`
		APIServices Described[APIService] `json:"apiservicedefinitions"`
		CRDs        Described[Definition] `json:"customresourcedefinitions"`
		Description string                `json:"description"`
		Modes       []Mode                `json:"installModes"`
		About
	} `json:"spec"`
}

// About has the descriptive fields of spec that have the same name in a catalog.
type About struct {
	DisplayName    string   `json:"displayName,omitempty"`
	Keywords       []string `json:"keywords,omitempty"`
	Links          []Link   `json:"links,omitempty"`
	Maintainers    []Person `json:"maintainers,omitempty"`
	Maturity       string   `json:"maturity,omitempty"`
	MinKubeVersion string   `json:"minKubeVersion,omitempty"`
	NativeAPIs     []API    `json:"nativeAPIs,omitempty"`
	Provider       Link     `json:"provider"`
}

// Icon is the logo of an operator. It is the same in a catalog.
type Icon struct {
	Data      string `json:"base64data"`
	MediaType string `json:"mediatype"`
}

// Link is a name with an address.
type Link struct {
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

// Person is a maintainer.
type Person struct {
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
}

// RelatedImage is an image that an operator uses.
type RelatedImage struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// Mode is an install mode, such as AllNamespaces.
type Mode struct {
	Type      string `json:"type"`
	Supported bool   `json:"supported"`
}

// Strategy is what installs the operator.
type Strategy struct {
	Deployments []struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"label"`
		Spec   json.RawMessage   `json:"spec"`
	} `json:"deployments"`
	Permissions        []Permission `json:"permissions"`
	ClusterPermissions []Permission `json:"clusterPermissions"`
}

// Permission is what a service account may do. OLM makes the names of roles of its JSON.
type Permission struct {
	// Account is empty for the account default.
	Account string              `json:"serviceAccountName"`
	Rules   []rbacv1.PolicyRule `json:"rules"`
}

// Described are the kinds that an operator owns and requires.
type Described[T Definition | APIService] struct {
	Owned    []T `json:"owned,omitempty"`
	Required []T `json:"required,omitempty"`
}

// Definition describes a kind of a CustomResourceDefinition.
type Definition struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	description
}

// APIService describes an aggregated API.
type APIService struct {
	Name           string `json:"name"`
	Group          string `json:"group"`
	Version        string `json:"version"`
	Kind           string `json:"kind"`
	DeploymentName string `json:"deploymentName,omitempty"`
	ContainerPort  int32  `json:"containerPort,omitempty"`
	description
}

// description is what both have for people.
type description struct {
	DisplayName       string       `json:"displayName,omitempty"`
	Description       string       `json:"description,omitempty"`
	Resources         []resource   `json:"resources,omitempty"`
	StatusDescriptors []descriptor `json:"statusDescriptors,omitempty"`
	SpecDescriptors   []descriptor `json:"specDescriptors,omitempty"`
	ActionDescriptor  []descriptor `json:"actionDescriptors,omitempty"`
}

type resource struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

type descriptor struct {
	Path         string          `json:"path"`
	DisplayName  string          `json:"displayName,omitempty"`
	Description  string          `json:"description,omitempty"`
	XDescriptors []string        `json:"x-descriptors,omitempty"`
	Value        json.RawMessage `json:"value,omitempty"`
}

// API is a kind in a version. Its fields have the order of OLM's properties.
type API struct {
	Group   string `json:"group"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

// API returns the API of a CustomResourceDefinition, whose name is plural.group.
func (d Definition) API() API {
	_, group, _ := strings.Cut(d.Name, ".")
	return API{Group: group, Kind: d.Kind, Version: d.Version}
}

// API returns the aggregated API.
func (s APIService) API() API { return API{Group: s.Group, Kind: s.Kind, Version: s.Version} }

// RequiredAPIs returns the APIs that the operator needs of others, in the order of the CSV.
func (c CSV) RequiredAPIs() []API {
	return append(each.Map(c.Spec.CRDs.Required, Definition.API), each.Map(c.Spec.APIServices.Required, APIService.API)...)
}

// OperatorImages returns the images of the containers that the deployments of the operator have, in their order.
func (c CSV) OperatorImages() (images []string) {
	if c.Spec.Install.Strategy != "deployment" {
		return nil
	}
	for _, one := range c.Spec.Install.Spec.Deployments {
		containers, _ := containersOf(one.Spec) // the reader has refused what is none
		images = append(images, each.Map(containers, func(c corev1.Container) string { return c.Image })...)
	}
	return images
}

// containersOf returns the containers that the spec of a deployment has.
func containersOf(spec []byte) ([]corev1.Container, error) {
	var deployment appsv1.DeploymentSpec
	if len(spec) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(spec, &deployment)
	return append(deployment.Template.Spec.Containers, deployment.Template.Spec.InitContainers...), err
}
