// SPDX-License-Identifier: Apache-2.0

package filebased

import (
	"github.com/winnow-dev/winnow/render/catalog/violation"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// InvalidError reports that a catalog's content is wrong. The messages begin with the number of the document in its file.
type InvalidError = violation.InvalidError

// nameList lists names of the catalog for a message.
func nameList(all []string) string { return excerpt.List(all, maxNames, excerpt.Quoted) }
