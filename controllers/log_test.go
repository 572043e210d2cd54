// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// line returns the line of the last reconciliation at the level info without its durations, and that there is one only. All
// other lines are at the level debug, or errors, as controller-runtime logs them.
func (e *environment) line() string {
	e.Helper()
	e.log.mu.Lock()
	lines := e.log.lines
	e.log.lines = nil
	e.log.mu.Unlock()
	var found []string
	for _, line := range lines {
		if strings.Contains(line, `"level"=0 `) {
			found = append(found, line)
		}
	}
	if len(found) != 1 {
		e.Fatalf("%d lines at the level info: %s", len(found), strings.Join(found, "\n"))
	}
	line := regexp.MustCompile(` "seconds"=[\d.e-]+ "phases"={[^}]*}`).ReplaceAllString(found[0], " SECONDS")
	return strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(line), `"level"=0 "msg"="reconciled" `), e.namespace+"/", "")
}

func TestEachReconciliationHasOneLineInTheLog(t *testing.T) {
	e := newEnvironment(t)
	reconcile := func() string {
		t.Helper()
		_, _ = e.tryReconcile("kkp")
		return e.line()
	}
	e.selection("kkp", guarded)
	e.equal("without a source", reconcile(), `"outcome"="failed" "because"="spec" "reason"="SourceNotReady" "revision"="" "held"=0 SECONDS `+
		`"message"="source OCIRepository catalog does not exist"`)
	e.source(applications(t, "argocd nginx"))
	published := reconcile()
	revision := fmt.Sprintf("%q", e.get("kkp").Status.Artifact.Revision)
	e.equal("a publication", published, `"outcome"="published" "because"="source" "reason"="Succeeded" "revision"=`+revision+` "held"=0 SECONDS`)
	e.equal("no change", reconcile(), `"outcome"="unchanged" "because"="again" "reason"="Succeeded" "revision"=`+revision+` "held"=0 SECONDS`)
	e.source(applications(t, "argocd"))
	held := reconcile()
	if want := `"outcome"="held" "because"="source" "reason"="Removal" "revision"=` + revision + ` "held"=1 SECONDS "message"="nginx: `; !strings.HasPrefix(held, want) {
		t.Errorf("a hold has %s, want %s", held, want)
	}
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit = &v1alpha1.Limit{Expression: "(("} })
	stalled := reconcile()
	if want := `"outcome"="stalled" "because"="spec" "reason"="InvalidSpec" "revision"=` + revision + ` "held"=0 SECONDS "message"="`; !strings.HasPrefix(stalled, want) {
		t.Errorf("a mistake in the spec has %s, want %s", stalled, want)
	}
	e.edit(func(cs *v1alpha1.CatalogSelection) { cs.Spec.Limit, cs.Spec.Suspend = nil, true })
	e.equal("a suspended selection", reconcile(), `"outcome"="suspended" "revision"=`+revision)
	e.remove(e.get("kkp"))
	e.equal("a deleted selection", reconcile(), `"outcome"="departed"`)
}
