package filebased

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// The types of properties that OLM knows. The value of any other one may be anything.
const (
	propertyPackage         = "olm.package"
	propertyPackageRequired = "olm.package.required"
	propertyGVK             = "olm.gvk"
	propertyGVKRequired     = "olm.gvk.required"
	propertyObject          = "olm.bundle.object"
	propertyChannel         = "olm.channel"
	propertyCSVMetadata     = "olm.csv.metadata"
)

// packageProperty says which version of a package a bundle is.
type packageProperty struct {
	index       int
	PackageName string `json:"packageName"`
	Version     string `json:"version"`
	Release     string `json:"release"`
}

type packageRequired struct {
	PackageName  string `json:"packageName"`
	VersionRange string `json:"versionRange"`
}

type gvk struct {
	Group   string `json:"group"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

type bundleObject struct {
	Data []byte `json:"data"`
}

type channelPriority struct {
	ChannelName string   `json:"channelName"`
	Priority    number64 `json:"priority"`
}

// bundleCheck finds what is wrong with a bundle.
type bundleCheck struct {
	content  *bundleContent
	bundle   *Bundle
	versions []packageProperty
	objects  int
	problems []problem
}

func (c *bundleCheck) add(at place, format string, args ...any) {
	c.problems = append(c.problems, problem{at: at, message: fmt.Sprintf(format, args...)})
}

func (c *bundleCheck) images() {
	if err := checkPullSpec(c.content.Image); err != nil {
		c.add(place{"image"}, "is not a pull spec: %v: %s", err, quote(c.content.Image))
	}
	for i, related := range c.content.RelatedImages {
		if err := checkPullSpec(related.Image); err != nil {
			c.add(place{"relatedImages", i, "image"}, "is not a pull spec: %v: %s", err, quote(related.Image))
		}
	}
}

func (c *bundleCheck) property(i int, one property) {
	var value any
	switch one.Type {
	case propertyPackage:
		value = &packageProperty{index: i}
	case propertyPackageRequired:
		value = &packageRequired{}
	case propertyGVK, propertyGVKRequired:
		value = &gvk{}
	case propertyObject:
		value = &bundleObject{}
	case propertyChannel:
		value = &channelPriority{}
	case propertyCSVMetadata:
		value = &csvMetadata{}
	default:
		if len(one.Value) == 0 {
			c.add(place{"properties", i}, "must have a value")
		}
		return
	}
	if len(one.Value) == 0 {
		c.add(place{"properties", i}, "must have a value")
		return
	}
	if err := json.Unmarshal(one.Value, value); err != nil {
		found := typeProblem(err)
		found.at = append(place{"properties", i, "value"}, found.at...)
		c.problems = append(c.problems, found)
		return
	}
	switch value := value.(type) {
	case *packageProperty:
		c.versions = append(c.versions, *value)
	case *bundleObject:
		c.object(i, value.Data)
	}
}

// object checks a manifest in a bundle, which is not looked at when it begins as JSON does.
func (c *bundleCheck) object(i int, manifest []byte) {
	c.objects++
	if bytes.HasPrefix(bytes.TrimLeftFunc(manifest, unicode.IsSpace), []byte("{")) {
		return
	}
	if _, err := toJSON(manifest); err != nil {
		c.add(place{"properties", i, "value", "data"}, "is a manifest that is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
}

// version checks the version, and what depends on it.
func (c *bundleCheck) version(found packageProperty) {
	at := place{"properties", found.index, "value"}
	if found.PackageName != c.content.Package {
		c.add(append(at, "packageName"), "is %s, but the bundle's package is %s", quote(found.PackageName), quote(c.content.Package))
	}
	version, err := parseVersion(found.Version)
	if err != nil {
		c.add(append(at, "version"), "is not a semantic version: %v: %s", err, quote(found.Version))
		return
	}
	if version.release, err = parseRelease(found.Release); err != nil {
		c.add(append(at, "release"), "%v: %s", err, quote(found.Release))
		return
	}
	c.bundle.Version = version
	if len(version.release) == 0 {
		return
	}
	if len(version.semver.Build) > 0 {
		c.add(append(at, "version"), "has build metadata beside a release: %s", quote(found.Version))
	}
	if name := c.content.Package + "-v" + version.String(); name != c.content.Name {
		c.add(place{"name"}, "must be %s, because the bundle has a release", quote(name))
	}
}
