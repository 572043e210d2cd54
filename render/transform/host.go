// SPDX-License-Identifier: Apache-2.0

package transform

// Kind is what is fetched from a host.
type Kind string

// Kinds of hosts. What a URL inside of values is for, and whether it is fetched at all, is
// unknown; the other kinds are fetched to install the application.
const (
	KindChart Kind = "chart"
	KindGit   Kind = "git"
	KindImage Kind = "image"
	KindURL   Kind = "url"
)

// Host is a host that a document refers to.
type Host struct {
	// Host as it was written, with its port. Implied ones of images are docker.io.
	Host string
	// Path of the field, such as spec.versions[0].template.source.helm.url.
	Path string
	Kind Kind
	// Covered reports whether a mirror replaced it, or that it is already the target of one.
	Covered bool
	// Reference is what is fetched from it.
	Reference
}

// Reference is what is fetched from a host. The fields of another kind are empty.
type Reference struct {
	// From is the address before the mirrors, To the one behind them. Images are written in
	// full: with docker.io and library where they are implied, and with the tag and the digest
	// that stand beside them.
	From, To string
	// Unknown is the part that the document does not have, or empty.
	Unknown Unknown
	// Chart is the name of a Helm chart, Version its version.
	Chart, Version string
	// Tag, Branch and Commit of a Git repository, as far as they are set.
	Tag, Branch, Commit string
}

// Unknown is a part of a reference without which nothing can be fetched for sure.
type Unknown string

// What can be unknown.
const (
	// UnknownTag: the image has neither tag nor digest; the chart adds one, mostly its appVersion.
	UnknownTag Unknown = "tag"
	// UnknownTemplate: a Go template makes a part of the image, perhaps another in each cluster.
	UnknownTemplate Unknown = "template"
	// UnknownRepository: this is only a registry; the chart says what it takes from there.
	UnknownRepository Unknown = "repository"
	// UnknownChart: the name or the version of the chart is not there, as beside all URLs with oci:// in
	// default values, or no chart can have the name.
	UnknownChart Unknown = "chart"
)
