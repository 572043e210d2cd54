package lint

import (
	"strings"
	"time"
)

// API groups of the kinds that have rules.
const (
	kkpGroup       = "apps.kubermatic.k8c.io"
	cozystackGroup = "cozystack.io"
)

// webhookRules are those by which KKP's API and webhook refuse a definition, or repair it.
// Those on the sources of versions are in sources.go.
func webhookRules() []documentRule {
	return []documentRule{
		{Rule{"kkp/method", Error, "spec.method is helm"}, method},
		{Rule{"kkp/atomic-needs-wait", Warning, "atomic comes with wait"}, atomicNeedsWait},
		{Rule{"kkp/wait-needs-timeout", Warning, "wait comes with a timeout"}, waitNeedsTimeout},
		{Rule{"kkp/timeout-needs-wait", Error, "a timeout comes with wait"}, timeoutNeedsWait},
		{Rule{"kkp/timeout", Error, "the timeout is a duration"}, timeoutIsDuration},
		{Rule{"kkp/values-exclusive", Error, "only one of defaultValues and defaultValuesBlock is set"}, valuesExclusive},
	}
}

func method(root field, report report) {
	at := root.get("spec", "method")
	switch {
	case !at.isSet():
		report(at, "spec.method is missing: write helm")
	case at.text() != "helm":
		report(at, "spec.method must be helm, not %s", quote(at.node.Value))
	}
}

func atomicNeedsWait(root field, report report) {
	helm := deployOptions(root)
	if atomic := helm.get("atomic"); atomic.isBool(true) && !helm.get("wait").isBool(true) {
		report(atomic, "atomic needs wait: KKP sets wait to true")
	}
}

func waitNeedsTimeout(root field, report report) {
	helm := deployOptions(root)
	waits := helm.get("wait").isBool(true) || helm.get("atomic").isBool(true)
	if !waits || hasTimeout(helm) {
		return
	}
	at := helm.get("wait")
	if !at.isSet() {
		at = helm.get("atomic")
	}
	report(at, "wait needs a timeout: KKP sets its own")
}

func timeoutNeedsWait(root field, report report) {
	helm := deployOptions(root)
	waits := helm.get("wait").isBool(true) || helm.get("atomic").isBool(true)
	if at := helm.get("timeout"); hasTimeout(helm) && !waits {
		report(at, "timeout needs wait: true")
	}
}

func timeoutIsDuration(root field, report report) {
	at := deployOptions(root).get("timeout")
	if at.text() == "" {
		return // unset, or of another type
	}
	if _, err := time.ParseDuration(at.text()); err != nil {
		report(at, "timeout must be a duration such as 10m, not %s", quote(at.text()))
	}
}

func deployOptions(root field) field { return root.get("spec", "defaultDeployOptions", "helm") }

// hasTimeout is true for any timeout but zero, which is none to KKP.
func hasTimeout(helm field) bool {
	at := helm.get("timeout")
	value, err := time.ParseDuration(at.text())
	return at.isSet() && (err != nil || value != 0)
}

func valuesExclusive(root field, report report) {
	values, block := root.get("spec", "defaultValues"), root.get("spec", "defaultValuesBlock")
	if values.isSet() && strings.TrimSpace(block.text()) != "" {
		report(values, "defaultValues excludes defaultValuesBlock: keep the block")
	}
}
