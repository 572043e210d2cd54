package filebased

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// The types of properties whose values are used.
const (
	propertyPackage  = "olm.package"
	propertyObject   = "olm.bundle.object"
	propertyGVK      = "olm.gvk"
	propertyMetadata = "olm.csv.metadata"
)

// packageProperty says which version of a package a bundle is.
type packageProperty struct {
	index       int
	PackageName string `json:"packageName"`
	Version     string `json:"version"`
	Release     string `json:"release"`
}

type bundleObject struct {
	Data []byte `json:"data"`
}

// bundleShape is that of a bundle, and shapes those of its properties.
var (
	bundleShape = mapping([]string{"name", "package", "image"}, map[string]*shape{
		"properties":    listOf(mapping([]string{"type"}, nil)),
		"relatedImages": listOf(mapping([]string{"name", "image"}, nil)),
	})
	shapes = propertyShapes()
)

// readBundle checks what can be checked of a bundle alone.
func readBundle(members []member) (*Bundle, []problem) {
	c := bundleCheck{bundle: &Bundle{}}
	fields := c.fields(members, bundleShape, nil)
	if len(c.problems) > 0 {
		return c.bundle, c.problems
	}
	c.bundle.Name, c.bundle.Image, c.packageName = fields.text("name"), fields.text("image"), fields.text("package")
	c.image(c.bundle.Image, place{"image"})
	for i, related := range fields.list("relatedImages") {
		c.image(fieldsOf(related).text("image"), place{"relatedImages", i, "image"})
	}
	for i, one := range fields.list("properties") {
		property := fieldsOf(one)
		c.property(i, property.text("type"), property["value"])
	}
	switch {
	case len(c.versions) != 1:
		c.add(place{"properties"}, "must have exactly one property %s, but there are %d", propertyPackage, len(c.versions))
	default:
		c.version(c.versions[0])
	}
	if c.bundle.Image == "" && c.objects == 0 {
		c.add(place{"image"}, "must be set, because there is no property %s", propertyObject)
	}
	c.finishFacts()
	return c.bundle, c.problems
}

// bundleCheck finds what is wrong with a bundle.
type bundleCheck struct {
	bundle      *Bundle
	packageName string
	versions    []packageProperty
	objects     int
	problems    []problem
	// hasMetadata says that install modes of the objects are not of interest.
	hasMetadata bool
	objectModes []string
}

func (c *bundleCheck) add(at place, format string, args ...any) {
	c.problems = append(c.problems, problem{at: at, message: fmt.Sprintf(format, args...)})
}

// fields checks the shapes of members, and returns them.
func (c *bundleCheck) fields(members []member, want *shape, at place) fields {
	for _, one := range members {
		c.problems = append(c.problems, checkShape(one.value, want.of(one.key), append(at[:len(at):len(at)], unquoted(one.key)))...)
	}
	return byName(members)
}

func (c *bundleCheck) image(text string, at place) {
	if err := checkPullSpec(text); err != nil {
		c.add(at, "is not a pull spec: %v: %s", err, quote(text))
	}
}

func (c *bundleCheck) property(i int, name string, value []byte) {
	at := place{"properties", i, "value"}
	if value == nil {
		c.add(at[:2], "must have a value")
		return
	}
	if want := shapes[name]; want != nil {
		found := checkShape(value, want, at)
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
		wrong := typeProblem(err)
		wrong.at = append(at, wrong.at...)
		c.problems = append(c.problems, wrong)
	}
}

// object checks a manifest in a bundle.
func (c *bundleCheck) object(i int, manifest []byte) {
	c.objects++
	converted, err := manifestJSON(manifest)
	if err != nil {
		c.add(place{"properties", i, "value", "data"}, "is a manifest that is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	if spec := clusterServiceVersion(converted); spec != nil {
		c.objectModes = readInstallModes(spec, c.objectModes)
	}
}

// manifestJSON returns a manifest as JSON. One that begins as JSON does is not looked at, as in OLM's tools.
func manifestJSON(manifest []byte) ([]byte, error) {
	if bytes.HasPrefix(bytes.TrimLeftFunc(manifest, unicode.IsSpace), []byte("{")) {
		return manifest, nil
	}
	return toJSON(manifest)
}

// version checks the version, and what depends on it.
func (c *bundleCheck) version(found packageProperty) {
	at := place{"properties", found.index, "value"}
	if found.PackageName != c.packageName {
		c.add(append(at, "packageName"), "is %s, but the bundle's package is %s", quote(found.PackageName), quote(c.packageName))
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
	if name := c.packageName + "-v" + version.String(); name != c.bundle.Name {
		c.add(place{"name"}, "must be %s, because the bundle has a release", quote(name))
	}
}
