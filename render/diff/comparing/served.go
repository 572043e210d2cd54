// SPDX-License-Identifier: Apache-2.0

package comparing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/fielddiff"
	"github.com/winnow-dev/winnow/render/kustomized"
	"github.com/winnow-dev/winnow/render/safeguard"
)

// served sets the changes of the catalog that serves the packages.
func (d *differ) served(ctx context.Context, out *diff.Selection) error {
	older, was, err := d.from.served(ctx)
	if err != nil {
		return err
	}
	newer, is, err := d.to.served(ctx)
	if err != nil {
		return err
	}
	if was != nil && is != nil && *was == *is {
		var changes []fielddiff.Change
		isExpected := slices.ContainsFunc(out.Applications, func(a diff.Application) bool { return a.IsPackage() && a.Change != diff.Unchanged })
		for _, c := range fielddiff.Of(older, newer) {
			if differs := cutDigest(&c, isExpected); differs {
				changes = append(changes, c)
			}
		}
		if len(changes) > 0 {
			c := diff.ServedCatalog{Object: nameOfServed(newer, *is), Change: diff.Updated}
			c.Fields, c.FieldsOmitted = fielddiff.Bounded(changes, fielddiff.MaxFields)
			out.Served = append(out.Served, c)
		}
		return nil
	}
	if was != nil {
		deleted := !protected(older)
		out.Served = append(out.Served, diff.ServedCatalog{Object: nameOfServed(older, *was), Change: diff.Removed, Deleted: &deleted})
	}
	if is != nil {
		out.Served = append(out.Served, diff.ServedCatalog{Object: nameOfServed(newer, *is), Change: diff.Added})
	}
	return nil
}

func nameOfServed(object kustomized.Object, key safeguard.Key) string {
	return strings.TrimSpace(fmt.Sprint(object["kind"], " ", key.FullName()))
}

// cutDigest removes the digests of an image if they are equal, or if another one is expected, and reports whether
// something else changes.
func cutDigest(c *fielddiff.Change, isExpected bool) (differs bool) {
	from, _ := c.From.(string)
	to, _ := c.To.(string)
	was, older, isOne := strings.Cut(from, "@")
	is, newer, isOther := strings.Cut(to, "@")
	isImage := c.IsAt("spec", "image") || c.IsAt("spec", "source", "image", "ref")
	if !isImage || !isOne || !isOther || older != newer && !isExpected {
		return true
	}
	c.From, c.To = was, is
	return was != is
}
