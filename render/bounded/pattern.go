// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"fmt"
	"regexp"
)

// MaxExpression bounds a regular expression in bytes: each takes up to 25 KB once it is compiled. It is matched in linear time.
const MaxExpression = 1000

// CheckExpression returns an error for an expression that is too long to be compiled. It does not compile it.
func CheckExpression(expression string) error {
	if len(expression) > MaxExpression {
		return fmt.Errorf("the regular expression is longer than %d bytes", MaxExpression)
	}
	return nil
}

// Compile compiles a regular expression of a catalog or a spec.
func Compile(expression string) (*regexp.Regexp, error) {
	if err := CheckExpression(expression); err != nil {
		return nil, err
	}
	return regexp.Compile(expression)
}
