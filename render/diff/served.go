package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// ServedCatalog is a change of a catalog of OLM that serves the packages of the artifact, by spec.push.catalog.
type ServedCatalog struct {
	// Object is <kind> <namespace>/<name>.
	Object string `json:"object"`
	// Change is added, removed or updated.
	Change Change `json:"change"`
	// Deleted is true for a removal if Flux deletes the catalog, where the Kustomization prunes. Nil for other changes.
	Deleted *bool `json:"deleted,omitempty"`
	// Fields are the first changes of the object, and the number of further ones. Another digest of the image is none of
	// them where packages change, from which it follows.
	Fields        []Field `json:"fields,omitempty"`
	FieldsOmitted int     `json:"fieldsOmitted,omitempty"`
}

// served sets the changes of the catalog that serves the packages.
func (d *differ) served(out *Selection) error {
	older, was, err := d.from.served()
	if err != nil {
		return err
	}
	newer, is, err := d.to.served()
	if err != nil {
		return err
	}
	if was != nil && is != nil && *was == *is {
		var changes []change
		isExpected := slices.ContainsFunc(out.Applications, func(a Application) bool { return a.IsPackage() && a.Change != Unchanged })
		for _, c := range fieldsOf(older, newer) {
			if differs := c.cutDigest(isExpected); differs {
				changes = append(changes, c)
			}
		}
		if len(changes) > 0 {
			c := ServedCatalog{Object: nameOfServed(newer, *is), Change: Updated}
			c.Fields, c.FieldsOmitted = bounded(changes)
			out.Served = append(out.Served, c)
		}
		return nil
	}
	if was != nil {
		deleted := !protected(older)
		out.Served = append(out.Served, ServedCatalog{Object: nameOfServed(older, *was), Change: Removed, Deleted: &deleted})
	}
	if is != nil {
		out.Served = append(out.Served, ServedCatalog{Object: nameOfServed(newer, *is), Change: Added})
	}
	return nil
}

// served returns the catalog that serves the packages of an artifact.
func (s *Side) served() (render.Object, *safeguard.Key, error) {
	if s == nil {
		return nil, nil, nil
	}
	object, err := s.Result.ServedObject()
	return object, s.Result.Served, err
}

func nameOfServed(object render.Object, key safeguard.Key) string {
	return strings.TrimSpace(fmt.Sprint(object["kind"], " ", key.FullName()))
}

// cutDigest removes the digests of an image if they are equal, or if another one is expected, and reports whether
// something else changes.
func (c *change) cutDigest(isExpected bool) (differs bool) {
	from, _ := c.from.(string)
	to, _ := c.to.(string)
	was, older, isOne := strings.Cut(from, "@")
	is, newer, isOther := strings.Cut(to, "@")
	isImage := c.isAt("spec", "image") || c.isAt("spec", "source", "image", "ref")
	if !isImage || !isOne || !isOther || older != newer && !isExpected {
		return true
	}
	c.from, c.to = was, is
	return was != is
}
