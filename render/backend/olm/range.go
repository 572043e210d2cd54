// SPDX-License-Identifier: Apache-2.0

package olm

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Range returns a range of semantic versions, which has been parsed, in the dialect of OLM v1: without hyphen ranges,
// and with x for *.
func Range(text string) (string, error) {
	translated := hyphenRange.ReplaceAllString(text, ">=$1 <=$2")
	translated = strings.TrimSpace(strings.ReplaceAll(translated, "*", "x"))
	if len(translated) > maxOLMRange {
		of := ""
		if translated != text {
			of = fmt.Sprintf(" as %s", excerpt.Quoted(translated))
		}
		return "", fmt.Errorf("%s has %d bytes%s, and OLM takes %d: shorten it", excerpt.Quoted(text), len(translated), of, maxOLMRange)
	}
	if !olmRange.MatchString(translated) {
		return "", errors.New(excerpt.Quoted(text) + " is no range that OLM takes: use comparisons such as >=1.2.0 <2.0.0, ~1.2 or ^1.2, joined by spaces, commas or ||")
	}
	return translated, nil
}

// maxOLMRange bounds a range of versions in OLM v1, in bytes.
const maxOLMRange = 64

// hyphenRange matches 1.2 - 1.4, which stands for >=1.2 <=1.4.
var hyphenRange = regexp.MustCompile(`([^\s,|<>=!~^]+)\s+-\s+([^\s,|<>=!~^]+)`)

// olmVersion matches the ranges that the CustomResourceDefinition of ClusterExtensions accepts, in OLM 1.2 and later.
// By a mistake in that pattern, not every version may contain *, but every version may contain x.
const olmVersion = `(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*(v?(0|[1-9]\d*|x|X)(\.(0|[1-9]\d*|x|X))?(\.(0|[1-9]\d*|x|X))?` +

	`(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?)\s*`

var olmRange = regexp.MustCompile(`^\s*` + olmVersion + `(?:(?:\s+|,\s*|\s*\|\|\s*)` + olmVersion + `)*$`)
