// SPDX-License-Identifier: Apache-2.0

// Package identity reads the fields of a definition that decide which live releases it means, and the
// origins of its versions: both can change under the same name and version, and so go unnoticed.
//
// It is pure. It must not know the consequences of such a change, nor how a definition is parsed.
package identity

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/backend/kinds"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Kind, Plural and Group are the paths of the fields of a definition of Cozystack that name the kind of objects that users create.
const (
	Kind   = "spec.application.kind"
	Plural = "spec.application.plural"
	// Group is a proposal. Without it the group is kinds.CozystackApps.
	Group = "spec.application.group"
	// BackendType is the path of the field that names what installs the applications.
	BackendType = "spec.backend.type"
)

// prefix ends the paths of the fields that begin the names of what a backend makes.
const prefix = ".prefix"

// IsPrefix reports whether the path of a field of the identity leads to a prefix. It differs between backends.
func IsPrefix(path string) bool { return strings.HasSuffix(path, prefix) }

// Facts of one definition.
type Facts struct {
	// Origins are digests of chart and repository, or of repository, path and commit. They are in the order
	// of spec.versions, or a single one if all are equal; a definition without versions has one for itself.
	// Empty where the definition names no origin.
	Origins []string
	// Fields maps the paths of the fields that decide which live releases are meant to their values: Kind, Plural, Group,
	// BackendType and the prefix of the backend. It is nil for all but definitions of Cozystack.
	Fields map[string]string
}

// form is a form of a definition in which scalars of all types are read: another number is another origin.
type form[F any] interface {
	definition.Form[F]
	Scalar() any
}

// Of returns the facts of a definition.
func Of[F form[F]](root F) Facts {
	spec := root.Get("spec")
	facts := Facts{Origins: originsOfVersions(definition.Versions(spec))}
	if root.Get("kind").Text() != definition.Kind || !definition.IsCozystack(spec) {
		return facts
	}
	backend, release := definition.BackendOf(spec), spec.Get("release")
	facts.Fields = map[string]string{
		BackendType: short(backend.Type), backend.Path + prefix: short(text(backend.Part.Get("prefix"))),
		Kind: short(text(spec.Get("application", "kind"))), Plural: short(text(spec.Get("application", "plural"))),
	}
	if group := text(spec.Get("application", "group")); group != "" && group != kinds.CozystackApps {
		facts.Fields[Group] = short(group)
	}
	origin := originOfBackend(backend.Part)
	// Released API servers know spec.release alone, and the proposed ones ignore it beside spec.backend.
	if release.IsSet() {
		facts.Fields[definition.ReleasePath+prefix] = short(text(release.Get("prefix")))
		if other := originOfBackend(release); other != origin {
			origin = digest(origin, other)
		}
	}
	if facts.Origins == nil {
		facts.Origins = single(origin)
	}
	return facts
}

// originsOfVersions returns the origins of spec.versions, nil if none is known.
func originsOfVersions[F form[F]](versions []definition.Version[F]) []string {
	origins := each.Map(versions, originOfVersion)
	if distinct := slices.Compact(slices.Clone(origins)); len(distinct) == 1 {
		return single(distinct[0])
	}
	return origins
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
func originOfVersion[F form[F]](of definition.Version[F]) string {
	version, helm, git := of.Name, of.Helm(), of.Git()
	ref := git.Get("ref")
	return digest(
		text(helm.Get("url")), text(helm.Get("chartName")), relative(text(helm.Get("chartVersion")), version),
		text(git.Get("remote")), text(git.Get("path")), relative(text(ref.Get("tag")), version),
		relative(text(ref.Get("branch")), version), text(ref.Get("commit")),
	)
}

// originOfBackend returns a digest of the reference to the chart, or of its older form with the chart's name; or of the
// reference to the module, and its directory.
func originOfBackend[F form[F]](backend F) string {
	from := backend.Get("chart", "sourceRef")
	parts := append(reference(backend.Get("chartRef")),
		text(backend.Get("chart", "name")), text(from.Get("kind")), text(from.Get("namespace")), text(from.Get("name")))
	if module := backend.Get("sourceRef"); module.IsSet() {
		parts = append(append(parts, reference(module)...), path.Join("/", text(backend.Get("path"))))
	}
	return digest(parts...)
}

func reference[F form[F]](ref F) []string {
	return []string{text(ref.Get("kind")), text(ref.Get("namespace")), text(ref.Get("name"))}
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
func text[F form[F]](value F) string {
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
	return excerpt.To(value, maxText/2) + digest(value)
}
