// SPDX-License-Identifier: Apache-2.0

// Package kkp has the rules of lint on the definitions of KKP: what its API and its webhook refuse, in webhook.go,
// sources.go and values.go, and what they accept and fails later, in missed.go.
//
// It must not know other definitions of a catalog, nor its files.
package kkp

import (
	"slices"

	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// Rules returns the rules, in the order in which Check applies them.
func Rules() []rules.Rule { return rules.Of(all()) }

// Check applies the rules to a definition of KKP, and calls report for each finding. What cannot be read has no value.
func Check(root field.Field, report func(rule rules.Rule, at field.Field, format string, args ...any)) {
	for _, rule := range all() {
		rule.Check(root, func(at field.Field, format string, args ...any) { report(rule.Rule, at, format, args...) })
	}
}

func all() []rule { return slices.Concat(webhookRules(), sourceRules(), missedRules(), valuesRules()) }
