// SPDX-License-Identifier: Apache-2.0

package diffview

import (
	"cmp"

	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/each"
)

// schemaEntries returns a line for each change of a schema.
func schemaEntries(all []diff.SchemaChange) []entry {
	return each.Map(all, func(c diff.SchemaChange) entry {
		text := cmp.Or(c.Path, "the values") + ": "
		switch c.Rule {
		case diff.SchemaUnread:
			text = "it is too large, or no JSON schema: not compared, or not all of it"
		case diff.SchemaKeyGone:
			text += "the key is gone"
		case diff.SchemaRequired:
			text += "newly required"
		case diff.SchemaBound:
			text += c.From + " -> " + c.To
		default:
			text += string(c.Rule) + " " + fromTo(diff.Field{From: c.From, To: c.To})
		}
		return entry{label: wording{"SCHEMA ", "**schema** "}, text: text}
	})
}
