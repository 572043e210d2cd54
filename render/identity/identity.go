package identity

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// CozystackGroup is the API group whose definitions name the releases of all their installations.
const CozystackGroup = "cozystack.io"

// Paths of the fields of a definition of Cozystack that decide which live releases it means: Prefix begins the names of
// its HelmReleases, Kind and Plural name the kind of objects that users create.
const (
	Prefix = "spec.release.prefix"
	Kind   = "spec.application.kind"
	Plural = "spec.application.plural"
)

// Facts are those of one definition.
type Facts struct {
	// Origins are digests of chart and repository, or of repository, path and commit. They are in the order
	// of spec.versions, or a single one if all are equal; a definition without versions has one for itself.
	// Empty where the definition names no origin.
	Origins []string
	// Fields maps the paths of the fields that decide which live releases are meant to their values;
	// nil for kinds without such fields.
	Fields map[string]string
}

// Value is a part of a definition. The Value of a missing part has no members, items or scalar.
type Value interface {
	// Get returns a member of a mapping.
	Get(name string) Value
	// Items returns the elements of a list.
	Items() []Value
	// Scalar returns a string, a boolean or a number; nil for everything else.
	Scalar() any
}

// Of returns the facts of a definition.
func Of(definition Value) Facts {
	spec := definition.Get("spec")
	group, _, _ := strings.Cut(text(definition.Get("apiVersion")), "/")
	if group == CozystackGroup {
		release, application := spec.Get("release"), spec.Get("application")
		return Facts{
			Origins: single(originOfRelease(release)),
			Fields: map[string]string{
				Prefix: short(text(release.Get("prefix"))), Kind: short(text(application.Get("kind"))),
				Plural: short(text(application.Get("plural"))),
			},
		}
	}
	var origins []string
	known, same := false, true
	for _, element := range spec.Get("versions").Items() {
		version, isText := element.Get("version").Scalar().(string)
		if !isText {
			continue // every reader skips an element without a version
		}
		origin := originOfVersion(version, element.Get("template").Get("source"))
		known = known || origin != ""
		same = same && (len(origins) == 0 || origin == origins[0])
		origins = append(origins, origin)
	}
	switch {
	case !known:
		return Facts{}
	case same:
		return Facts{Origins: single(origins[0])}
	}
	return Facts{Origins: origins}
}

func single(origin string) []string {
	if origin == "" {
		return nil
	}
	return []string{origin}
}

// originOfVersion returns a digest of chart or commit, without credentials. Fields that contain the version
// are written relative to it, so that usually all versions of a definition have the same origin, which
// takes little room.
func originOfVersion(version string, source Value) string {
	helm, git := source.Get("helm"), source.Get("git")
	ref := git.Get("ref")
	return digest(
		text(helm.Get("url")), text(helm.Get("chartName")), relative(text(helm.Get("chartVersion")), version),
		text(git.Get("remote")), text(git.Get("path")), relative(text(ref.Get("tag")), version),
		relative(text(ref.Get("branch")), version), text(ref.Get("commit")),
	)
}

// originOfRelease returns a digest of the reference to the chart, and of its older form with the chart's name.
func originOfRelease(release Value) string {
	ref, chart := release.Get("chartRef"), release.Get("chart")
	from := chart.Get("sourceRef")
	return digest(
		text(ref.Get("kind")), text(ref.Get("namespace")), text(ref.Get("name")),
		text(chart.Get("name")), text(from.Get("kind")), text(from.Get("namespace")), text(from.Get("name")),
	)
}

// OriginOf returns a digest of what names the code that runs, such as the pull spec of an image; empty for an empty text.
func OriginOf(source string) string { return digest(source) }

// relative replaces the version in a text. Different texts stay different.
func relative(value, version string) string {
	const placeholder = "\x00"
	switch {
	case value == "":
		return ""
	case version == "" || !strings.Contains(value, version) || strings.Contains(value, placeholder):
		return "=" + value
	}
	return "~" + strings.ReplaceAll(value, version, placeholder)
}

// digestBytes of a digest are 8 characters. A catalog is hostile until proven otherwise: with much
// fewer, a chart could be found by trial that has the digest of another.
const digestBytes = 6

// digest is empty when all parts are.
func digest(parts ...string) string {
	if strings.Join(parts, "") == "" {
		return ""
	}
	hash := sha256.New()
	// Strings cannot fail to be encoded, nor a hash to be written to.
	_ = json.NewEncoder(hash).Encode(parts)
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:digestBytes])
}

// text returns a scalar as text. 1.10 without quotes is the number 1.1, with every parser.
func text(value Value) string {
	switch scalar := value.Scalar().(type) {
	case nil:
		return ""
	case string:
		return scalar
	default:
		encoded, err := json.Marshal(scalar)
		if err != nil {
			return ""
		}
		return string(encoded)
	}
}

// maxText bounds a value, because it is written to a status. No name in Kubernetes is longer.
const maxText = 253

// short replaces the end of a value that is too long by a digest of the whole value.
func short(value string) string {
	if len(value) <= maxText {
		return value
	}
	end := maxText / 2
	for end > 0 && !utf8.RuneStart(value[end]) {
		end--
	}
	return value[:end] + "..." + digest(value)
}
