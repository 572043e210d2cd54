// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
)

// Request is a chart with what it is rendered with.
type Request struct {
	// Chart is the archive of the chart, a tar.gz of one directory.
	Chart []byte `json:"chart"`
	// Values are sets of values, as YAML. The chart is rendered with each set. A nil set leaves the values of the chart.
	Values [][]byte `json:"values"`
	// ReleaseName and Namespace of the release.
	ReleaseName string `json:"releaseName"`
	Namespace   string `json:"namespace"`
	// IsUpgrade asks for the manifests of an upgrade of the release, instead of an installation.
	IsUpgrade bool `json:"isUpgrade,omitempty"`
	// KubeVersion of the cluster; empty is Helm's default. The cluster serves the APIs that Helm knows.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// OnlyServed leaves out the APIs that Kubernetes has removed in this version.
	OnlyServed bool `json:"onlyServed,omitempty"`
	// IsHelm3 asks for the rules of Helm 3, which KKP has, where the rules of Helm 4, which Flux has, differ.
	IsHelm3 bool `json:"isHelm3,omitempty"`
	// FindUnread asks for the keys of the values that the chart does not read.
	FindUnread bool `json:"findUnread,omitempty"`
}

// rules names what a chart is rendered by.
func (r Request) rules() string {
	if r.IsHelm3 {
		return " (by the rules of Helm 3, which KKP has)"
	}
	return " (by the rules of Helm 4, which Flux has)"
}

// Answer is a chart as it was rendered.
type Answer struct {
	// Name and Version of the chart in its Chart.yaml.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Schema is its values.schema.json.
	Schema string `json:"schema,omitempty"`
	// Renders are in the order of the values of the request.
	Renders []Render `json:"renders"`
	// Refused is the reason why the archive is no chart; then there are no renders.
	Refused string `json:"refused,omitempty"`
}

// Render is a chart with one set of values.
type Render struct {
	// Manifests in the order in which Helm installs them: the files of crds, the objects of the release, its hooks.
	Manifests []Manifest `json:"manifests,omitempty"`
	// Refused is the reason why the chart does not render; then there are no manifests.
	Refused string `json:"refused,omitempty"`
	// By is what refuses it; ByTemplates if it is not one of the others.
	By Refusal `json:"by,omitempty"`
	// Notes are what was not checked.
	Notes []string `json:"notes,omitempty"`
	// Unread are the keys of the values that the chart does not read, whether it renders or not, if the request asks for them.
	Unread []unread.Key `json:"unread,omitempty"`
}

// Refusal is what refuses to render.
type Refusal string

const (
	// ByTemplates is for values that may not be sufficient, or not valid, and for templates that are not.
	ByTemplates Refusal = ""
	// BySchema is for values that a values.schema.json refuses.
	BySchema Refusal = "schema"
	// ByChart is for a chart that cannot be installed, whatever the values.
	ByChart Refusal = "chart"
	// ByDependencies is for a chart that lacks one in it. Helm refuses that, and Flux installs it without.
	ByDependencies Refusal = "dependencies"
	// ByCluster is ByTemplates if a template calls lookup, which finds nothing here.
	ByCluster Refusal = "cluster"
	// ByKubernetes is for a chart of other versions of Kubernetes.
	ByKubernetes Refusal = "kubernetes"
)

// Manifest is a document of YAML, or a file of crds, which may have several.
type Manifest struct {
	// Path of the file in the chart, with the names of the charts above it, as in the comments of helm template.
	Path string `json:"path"`
	Text string `json:"text"`
	// Generated are the fields that differ between two renders with the same values, such as passwords, as dotted paths. An
	// empty path stands for all of the manifest, and Comments for its comments.
	Generated []string `json:"generated,omitempty"`
}

// IsGenerated reports whether a field of the manifest, or one above it, differs between two renders.
func (m Manifest) IsGenerated(field string) bool {
	return slices.ContainsFunc(m.Generated, func(other string) bool { return isAbove(other, field) })
}

// isAbove reports whether a field is another one, or has it below it. The empty field has all others.
func isAbove(field, other string) bool {
	rest, found := strings.CutPrefix(other, field)
	return found && (field == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}
