// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/catalog/filebased/jsontext"
	"github.com/winnow-dev/winnow/render/catalog/filebased/pullspec"
	"github.com/winnow-dev/winnow/render/catalog/filebased/shape"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// packageProperty states which version of a package a bundle is.
type packageProperty struct {
	index       int
	PackageName string `json:"packageName"`
	Version     string `json:"version"`
	Release     string `json:"release"`
}

// readBundle checks what can be checked of a bundle alone.
func readBundle(members []jsontext.Member) (*Bundle, []shape.Problem) {
	c := bundleCheck{bundle: &Bundle{}}
	for _, one := range members {
		at := shape.FieldPath{jsontext.Unquoted(one.Key)}
		c.problems = append(c.problems, shape.Check(one.Value, bundleShape.Of(one.Key), at)...)
	}
	if len(c.problems) > 0 {
		return c.bundle, c.problems
	}
	fields := jsontext.ByName(members)
	c.bundle.Name, c.bundle.Image, c.packageName = fields.Text("name"), fields.Text("image"), fields.Text("package")
	c.image(c.bundle.Image, shape.FieldPath{"image"})
	for i, related := range fields.List("relatedImages") {
		image := jsontext.FieldsOf(related).Text("image")
		c.image(image, shape.FieldPath{"relatedImages", i, "image"})
		c.bundle.RelatedImages = append(c.bundle.RelatedImages, image)
	}
	for i, one := range fields.List("properties") {
		property := jsontext.FieldsOf(one)
		c.property(i, property.Text("type"), property["value"])
	}
	if len(c.versions) == 1 {
		c.version(c.versions[0])
	} else {
		c.add(shape.FieldPath{"properties"}, "must have exactly one property %s, but there are %d", propertyPackage, len(c.versions))
	}
	if c.bundle.Image == "" && c.objects == 0 {
		c.add(shape.FieldPath{"image"}, "must be set, because there is no property %s", propertyObject)
	}
	slices.SortFunc(c.bundle.Provides, GVK.Compare)
	c.bundle.Provides = slices.Clip(slices.Compact(c.bundle.Provides))
	if !c.hasMetadata {
		c.bundle.InstallModes = c.objectModes
	}
	return c.bundle, c.problems
}

// bundleCheck finds what is wrong with a bundle.
type bundleCheck struct {
	bundle      *Bundle
	packageName string
	versions    []packageProperty
	objects     int
	problems    []shape.Problem
	// hasMetadata is true where install modes of the objects are of no interest.
	hasMetadata bool
	objectModes []string
}

func (c *bundleCheck) add(at shape.FieldPath, format string, args ...any) {
	c.problems = append(c.problems, shape.Problem{At: at, Message: fmt.Sprintf(format, args...)})
}

func (c *bundleCheck) image(text string, at shape.FieldPath) {
	if err := pullspec.Check(text); err != nil {
		c.add(at, "is not a pull spec: %v: %s", err, excerpt.Quoted(text))
	}
}

func (c *bundleCheck) property(i int, name string, value []byte) {
	at := shape.FieldPath{"properties", i, "value"}
	if value == nil {
		c.add(at[:2], "must have a value")
		return
	}
	if want := shapes[name]; want != nil {
		found := shape.Check(value, want, at)
		if c.problems = append(c.problems, found...); len(found) == 0 {
			c.fact(name, value)
		}
		return
	}
	var err error
	switch name {
	case propertyPackage:
		found := packageProperty{index: i}
		if err = json.Unmarshal(value, &found); err == nil {
			c.versions = append(c.versions, found)
		}
	case propertyObject:
		var found bundleObject
		if err = json.Unmarshal(value, &found); err == nil {
			c.object(i, found.Data)
		}
	case Constraint:
		c.fact(name, value)
	}
	if err != nil {
		wrong := shape.TypeProblem(err)
		wrong.At = append(at, wrong.At...)
		c.problems = append(c.problems, wrong)
	}
}

// object checks a manifest in a bundle.
func (c *bundleCheck) object(i int, manifest []byte) {
	c.objects++
	converted, err := manifestJSON(manifest)
	if err != nil {
		c.add(shape.FieldPath{"properties", i, "value", "data"}, "is a manifest that is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	if spec := clusterServiceVersion(converted); spec != nil {
		c.objectModes = readInstallModes(spec, c.objectModes)
	}
}

// version checks the version, and what depends on it.
func (c *bundleCheck) version(found packageProperty) {
	at := shape.FieldPath{"properties", found.index, "value"}
	if found.PackageName != c.packageName {
		c.add(append(at, "packageName"), "is %s, but the bundle's package is %s", excerpt.Quoted(found.PackageName), excerpt.Quoted(c.packageName))
	}
	version, err := parseVersion(found.Version)
	if err != nil {
		c.add(append(at, "version"), "is not a semantic version: %v: %s", err, excerpt.Quoted(found.Version))
		return
	}
	if version.release, err = parseRelease(found.Release); err != nil {
		c.add(append(at, "release"), "%v: %s", err, excerpt.Quoted(found.Release))
		return
	}
	c.bundle.Version = version
	if len(version.release) == 0 {
		return
	}
	if len(version.semver.Build) > 0 {
		c.add(append(at, "version"), "has build metadata beside a release: %s", excerpt.Quoted(found.Version))
	}
	if name := c.packageName + "-v" + version.String(); name != c.bundle.Name {
		c.add(shape.FieldPath{"name"}, "must be %s, because the bundle has a release", excerpt.Quoted(name))
	}
}

// fact keeps what the value of a property, which has its shape, tells about the bundle. A value without what makes it
// useful is left out: OLM's tools accept it.
func (c *bundleCheck) fact(name string, value []byte) {
	switch name {
	case propertyGVK:
		if api := readGVK(value); api.Version != "" && api.Kind != "" {
			c.bundle.Provides = append(c.bundle.Provides, api)
		}
	case PackageRequired, GVKRequired, Constraint:
		c.bundle.Dependencies = append(c.bundle.Dependencies, readDependency(name, value))
	case propertyMetadata:
		c.hasMetadata = true
		c.bundle.InstallModes = readInstallModes(value, c.bundle.InstallModes)
	}
}
