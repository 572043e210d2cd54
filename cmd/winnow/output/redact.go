// SPDX-License-Identifier: Apache-2.0

package output

import "regexp"

// WithoutUsers returns a text without the users and passwords of URLs.
func WithoutUsers(text string) string { return userPattern.ReplaceAllString(text, "://***@") }

// userPattern finds the user and the password of a URL, which a message may quote from the command line or a file.
var userPattern = regexp.MustCompile(`://[^\s/]*@`)

// WithoutPasswords replaces the users of addresses, with their passwords: a catalog may have some, and some are
// tokens. That of Git over SSH is none.
func WithoutPasswords(text string) string {
	return userInfo.ReplaceAllStringFunc(text, func(user string) string {
		if user == "://git@" {
			return user
		}
		return "://***@"
	})
}

var userInfo = regexp.MustCompile(`://[^/@\s"']+@`)
