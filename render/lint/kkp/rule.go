// SPDX-License-Identifier: Apache-2.0

package kkp

import (
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// rule is a rule on one definition: its function reports what breaks it.
type rule = rules.Checked[func(root field.Field, report field.Report)]
