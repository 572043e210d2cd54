// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/unread"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// changedRisk returns the risk of a field that changes. What is in a Secret is left out.
func changedRisk(rule string, o object, d difference, sentence string) diff.Risk {
	r := diff.Risk{Rule: rule, Object: o.String(), Field: excerpt.To(strings.TrimPrefix(d.path, "."), 200), Text: sentence}
	if isKind(o, "", "Secret") && d.path != ".type" {
		return r
	}
	if d.from != nil {
		r.From = diff.JSON(d.from)
	}
	if d.to != nil {
		r.To = diff.JSON(d.to)
	}
	return r
}

// unreadRisk returns the risk of a value that is not read.
func unreadRisk(key unread.Key) diff.Risk {
	r := diff.Risk{Rule: Value, Field: excerpt.To(key.Name, 200), Text: "The newer chart does not read it: it has no effect."}
	if key.Nearest != "" {
		r.Text += fmt.Sprintf(" Is %s meant?", excerpt.Quoted(key.Nearest))
		return r
	}
	r.Text += " Look for its new name in the values of the chart, or remove it."
	return r
}
