// SPDX-License-Identifier: Apache-2.0

// Package kkp has the rules of lint on the definitions of KKP: what its API and its webhook refuse, in webhook.go,
// sources.go and values.go, and what they accept and fails later, in missed.go.
//
// It must not know other definitions of a catalog, nor its files.
package kkp

import (
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/excerpt"
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

// webhookRules are those by which KKP's API and webhook refuse a definition, or repair it.
// Those on the sources of versions are in sources.go.
func webhookRules() []rule {
	return []rule{
		rules.NewChecked("kkp/method", rules.Error, "spec.method is helm", method),
		rules.NewChecked("kkp/atomic-needs-wait", rules.Warning, "atomic comes with wait", atomicNeedsWait),
		rules.NewChecked("kkp/wait-needs-timeout", rules.Warning, "wait comes with a timeout", waitNeedsTimeout),
		rules.NewChecked("kkp/timeout-needs-wait", rules.Error, "a timeout comes with wait", timeoutNeedsWait),
		rules.NewChecked("kkp/timeout", rules.Error, "the timeout is a duration", timeoutIsDuration),
		rules.NewChecked("kkp/values-exclusive", rules.Error, "only one of defaultValues and defaultValuesBlock is set", valuesExclusive),
	}
}

func method(root field.Field, report field.Report) {
	at := root.Get("spec", "method")
	switch {
	case !at.IsSet():
		report(at, "spec.method is missing: write helm")
	case at.Text() != "helm":
		report(at, "spec.method must be helm, not %s", excerpt.Quoted(at.Node.Value))
	}
}

func atomicNeedsWait(root field.Field, report field.Report) {
	helm := deployOptions(root)
	if atomic := helm.Get("atomic"); atomic.IsBool(true) && !helm.Get("wait").IsBool(true) {
		report(atomic, "atomic needs wait: KKP sets wait to true")
	}
}

func waitNeedsTimeout(root field.Field, report field.Report) {
	helm := deployOptions(root)
	waits := helm.Get("wait").IsBool(true) || helm.Get("atomic").IsBool(true)
	if !waits || hasTimeout(helm) {
		return
	}
	at := helm.Get("wait")
	if !at.IsSet() {
		at = helm.Get("atomic")
	}
	report(at, "wait needs a timeout: KKP sets its own")
}

func timeoutNeedsWait(root field.Field, report field.Report) {
	helm := deployOptions(root)
	waits := helm.Get("wait").IsBool(true) || helm.Get("atomic").IsBool(true)
	if at := helm.Get("timeout"); hasTimeout(helm) && !waits {
		report(at, "timeout needs wait: true")
	}
}

func timeoutIsDuration(root field.Field, report field.Report) {
	at := deployOptions(root).Get("timeout")
	if at.Text() == "" {
		return // unset, or of another type
	}
	if _, err := time.ParseDuration(at.Text()); err != nil {
		report(at, "timeout must be a duration such as 10m, not %s", excerpt.Quoted(at.Text()))
	}
}

func deployOptions(root field.Field) field.Field {
	return root.Get("spec", "defaultDeployOptions", "helm")
}

// hasTimeout is true for any timeout but zero, which is none to KKP.
func hasTimeout(helm field.Field) bool {
	at := helm.Get("timeout")
	value, err := time.ParseDuration(at.Text())
	return at.IsSet() && (err != nil || value != 0)
}

func valuesExclusive(root field.Field, report field.Report) {
	values, block := root.Get("spec", definition.ValuesMapping), root.Get("spec", definition.ValuesBlock)
	switch {
	case !values.IsSet() || block.Text() == "": // an empty mapping counts, and a blank block does
	case strings.TrimSpace(block.Text()) == "":
		report(values, "defaultValues excludes defaultValuesBlock, which is blank: remove the block")
	default:
		report(values, "defaultValues excludes defaultValuesBlock: keep the block")
	}
}
