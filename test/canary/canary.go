// SPDX-License-Identifier: Apache-2.0

// Package canary has a secret for tests that provoke failures, and finds it in what they print. It must not know who prints.
package canary

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
)

// Secret is the password, the token or the value that nothing may print. It has characters that URLs escape.
const Secret = "kanarie/7d4f+Zq93"

// In returns the first form of Secret in a text: as it is, escaped for a URL, or in a longer text in base64. It is empty where
// there is none.
func In(text string) string {
	text = strings.ToLower(text)
	for _, form := range forms() {
		if strings.Contains(text, strings.ToLower(form)) {
			return form
		}
	}
	return digits.FindString(text)
}

// digits matches the first word of the second part of Secret, but not within a digest, which may have it by chance.
var digits = regexp.MustCompile(`(?:^|[^0-9a-f])7d4f(?:[^0-9a-f]|$)`)

func forms() []string {
	_, second, _ := strings.Cut(Secret, "/")
	all := []string{Secret, url.QueryEscape(Secret), url.PathEscape(Secret), "kanarie", second, url.QueryEscape(second)}
	for before := range 3 { // the bits of the neighbours are left out
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + Secret))
		all = append(all, encoded[(before*8+5)/6:len(encoded)-4])
	}
	return all
}
