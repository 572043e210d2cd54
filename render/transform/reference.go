package transform

import (
	"encoding/json"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Reference is what is fetched from a host. The fields of another kind are empty.
type Reference struct {
	// From is the address before the mirrors, To the one behind them. Images are written in
	// full: with docker.io and library where they are implied, and with the tag and the digest
	// that stand beside them.
	From, To string
	// Unknown is the part that the document does not tell, or empty.
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

// chartName is what charts are named. No command takes such a name for an option or for two arguments.
var chartName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// chartReference reads the source helm of a version.
func chartReference(helm *yaml.Node, r Reference) Reference {
	r.Chart, r.Version = printed(lookup(helm, "chartName")), printed(lookup(helm, "chartVersion"))
	if !chartName.MatchString(r.Chart) || r.Version == "" {
		r.Unknown = UnknownChart
	}
	return r
}

// gitReference reads the source git of a version.
func gitReference(git *yaml.Node, r Reference) Reference {
	ref := lookup(git, "ref")
	r.Tag, r.Branch, r.Commit = printed(lookup(ref, "tag")), printed(lookup(ref, "branch")), printed(lookup(ref, "commit"))
	return r
}

// imageReference completes the reference of an image by what stands beside it.
func imageReference(at key, r Reference) Reference {
	_, path, _ := strings.Cut(r.From, "/")
	tagged := strings.ContainsAny(template.ReplaceAllString(path, "x"), ":@")
	switch {
	case tagged:
	case isRegistryKey(at.name):
		r.Unknown = UnknownRepository
		return r
	case at.name == "image" || at.name == "repository":
		suffix := tagAndDigest(at.mapping)
		r.From, r.To, tagged = r.From+suffix, r.To+suffix, suffix != ""
	}
	switch {
	case strings.Contains(r.From, "{{"):
		r.Unknown = UnknownTemplate
	case !tagged:
		r.Unknown = UnknownTag
	}
	return r
}

func tagAndDigest(mapping *yaml.Node) (suffix string) {
	if tag := printed(lookup(mapping, "tag")); tag != "" {
		suffix = ":" + tag
	}
	if digest := printed(lookup(mapping, "digest")); digest != "" {
		suffix += "@" + digest
	}
	return suffix
}

// printed returns a scalar as a chart's template prints it: 1.10 without quotes is the number
// 1.1. It is empty for null and for what is not a scalar.
func printed(node *yaml.Node) string {
	if node == nil || node.Kind != yaml.ScalarNode || yamlnode.IsNull(node) {
		return ""
	}
	if tag := node.ShortTag(); tag != "!!int" && tag != "!!float" {
		return node.Value
	}
	var number any
	if node.Decode(&number) != nil {
		return node.Value
	}
	text, err := json.Marshal(number)
	if err != nil {
		return node.Value // infinity, for example
	}
	return string(text)
}
