// SPDX-License-Identifier: Apache-2.0

// Package pattern compiles regular expressions of catalogs and specs, which are untrusted. It must not know what they
// match.
//
// It uses Go's package regexp, which matches in linear time. The memory for an expression is not linear: 3,000 times
// "x{1000}", in 21 KB, take half a gigabyte.
package pattern

import (
	"fmt"
	"regexp"
)

// MaxLength bounds an expression in bytes: compiled, one takes up to 25 KB for each of them.
const MaxLength = 1000

// Check returns an error for an expression that is too long to be compiled. It does not compile it.
func Check(expression string) error {
	if len(expression) > MaxLength {
		return fmt.Errorf("the regular expression is longer than %d bytes", MaxLength)
	}
	return nil
}

// Compile compiles an expression.
func Compile(expression string) (*regexp.Regexp, error) {
	if err := Check(expression); err != nil {
		return nil, err
	}
	return regexp.Compile(expression)
}
