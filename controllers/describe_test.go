// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// described returns the output of kubectl describe for a CatalogSelection, without labels, annotations and
// events: every field by its name, in this order, one line for each value.
func (e *environment) described(name string) []string {
	e.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSelectionKind))
	if err := apiServer.Get(e.Context(), e.key(name), live); err != nil {
		e.Fatal(err)
	}
	live.SetManagedFields(nil)
	return describedFields(live.Object, "")
}

func describedFields(content map[string]any, indent string) []string {
	var lines []string
	for _, field := range slices.Sorted(maps.Keys(content)) {
		switch value := content[field].(type) {
		case map[string]any:
			lines = append(append(lines, indent+field+":"), describedFields(value, indent+"  ")...)
		case []any:
			lines = append(lines, indent+field+":")
			for _, child := range value {
				if nested, ok := child.(map[string]any); ok {
					lines = append(lines, describedFields(nested, indent+"  ")...)
				} else {
					lines = append(lines, fmt.Sprint(indent, "  ", child))
				}
			}
		default:
			lines = append(lines, fmt.Sprintf("%s%s: %v", indent, field, value))
		}
	}
	return lines
}

func TestCostOfDescribeAtAThousandApplications(t *testing.T) {
	for _, test := range []struct {
		name    string
		catalog []byte
		edit    specEdit
		// listed is the number of entries in status.applications, excluded in status.excluded.
		listed, excluded int
		truncated        bool
	}{
		{"five", realistic(t, 5, 3), guarded, 5, 0, false},
		{"a thousand, whole", realistic(t, 1000, 3), guarded, 0, 0, true},
		{"a thousand but two", realistic(t, 1000, 3), func(cs *v1alpha1.CatalogSelection) {
			guarded(cs)
			cs.Spec.Limit = &v1alpha1.Limit{Expression: `!app.name.endsWith("-7") && !app.name.endsWith("-77")`}
		}, 0, 2, true},
		{"a thousand, each without versions", realistic(t, 1000, 3), constrain(">=2"), 16, 0, true},
		{"two of a thousand", realistic(t, 1000, 3), func(cs *v1alpha1.CatalogSelection) {
			guarded(cs)
			cs.Spec.Limit = &v1alpha1.Limit{Expression: `app.name.endsWith("-995") || app.name.endsWith("77") && app.name < "e"`}
		}, 2, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(test.catalog)
			e.selection("kkp", test.edit)
			cs, _ := e.publish("kkp")
			e.equal("listed", []any{len(cs.Status.Applications), len(cs.Status.Excluded), cs.Status.ApplicationsTruncated},
				[]any{test.listed, test.excluded, test.truncated})
			e.readable(cs)
		})
	}
}

func TestCostOfDescribeWhileAThousandAreHeld(t *testing.T) {
	e := newEnvironment(t)
	e.source(realistic(t, 1001, 3))
	e.selection("kkp", guarded)
	e.publish("kkp")
	e.source(realistic(t, 1, 3))
	cs := e.reconcile("kkp")
	e.equal("held", []int{int(cs.Status.Held.Total), len(cs.Status.Held.Reasons)}, []int{1000, 12})
	e.readable(cs)
}

// readable expects that the output of describe fits on a few screens, and that kubectl prints as many lines.
func (e *environment) readable(cs *v1alpha1.CatalogSelection) {
	e.Helper()
	lines := e.described(cs.Name)
	e.Logf("describe prints %d lines, the last one of %d bytes", len(lines), len(lines[len(lines)-1]))
	if len(lines) > 320 {
		e.Errorf("describe prints %d lines", len(lines))
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "    packed: ") || lines[len(lines)-2] != "    format: 2" {
		e.Errorf("the record is not the last field, but %.80s", last)
	}
	printed, err := e.kubectl("describe", "--show-events=false", "catsel", cs.Name)
	if errors.Is(err, exec.ErrNotFound) {
		e.Log("kubectl is not there to compare with")
		return
	}
	const labelsAndAnnotations = 2
	if got := strings.Count(printed, "\n"); err != nil || got != len(lines)+labelsAndAnnotations {
		e.Errorf("kubectl prints %d lines, and described %d: %v", got, len(lines), err)
	}
}

// kubectl returns the output of kubectl; the error is exec.ErrNotFound if it is not installed.
func (e *environment) kubectl(args ...string) (string, error) {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		return "", exec.ErrNotFound
	}
	args = append([]string{"--kubeconfig", system.Kubeconfig(), "-n", e.namespace}, args...)
	out, err := exec.CommandContext(e.Context(), path, args...).CombinedOutput()
	return string(out), err
}

func TestNotesOfApplications(t *testing.T) {
	e := newEnvironment(t)
	e.sourceOf("OCIRepository", e.key("catalog"), catalogArchive(t,
		"applications/argocd/application.yaml", definition("argocd", "1.0.0,2.0.0,3.0.0"),
		"applications/nginx/application.yaml", definition("nginx", "0.1.0,0.2.0,0.3.0,0.4.0,0.5.0,0.6.0,1.0.0"),
		"applications/nginx/metadata.yaml", "deprecated: "+strings.Repeat("use something else ", 20)+"\n",
		"applications/velero/application.yaml", definition("velero", "1.0.0"),
	))
	e.sourceOf("GitRepository", e.key("own"), applications(t, "argocd loki"))
	e.selection("kkp", guarded, constrain(">=1"), exclude("velero"), func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Sources = append(cs.Spec.Sources, v1alpha1.SourceReference{Kind: "GitRepository", Name: "own"})
	})
	cs, _ := e.publish("kkp")
	e.equal("excluded", cs.Status.Excluded, []string{"velero"})
	e.equal("applications", cs.Status.Applications, []v1alpha1.ApplicationStatus{
		{Name: "argocd", Source: "catalog", Versions: []string{"1.0.0", "2.0.0", "3.0.0"}, Notes: []string{"also in own"}},
		{Name: "loki", Source: "own", Versions: []string{"1.0.0"}},
		{Name: "nginx", Source: "catalog", Versions: []string{"1.0.0"}, Notes: []string{
			"deprecated: " + strings.Repeat("use something else ", 20)[:240-len("deprecated: ")-3] + "...",
			"without 6 of 7 versions: 0.1.0, 0.2.0, 0.3.0, 0.4.0, 0.5.0, ...",
		}},
	})
}

func TestTheColumnsOfKubectl(t *testing.T) {
	e, _ := publishGuarded(t, "argocd nginx")
	if _, err := e.kubectl("version", "--client"); errors.Is(err, exec.ErrNotFound) {
		t.Skip("kubectl is not there")
	}
	e.source(applications(t, "argocd"))
	e.reconcile("kkp")
	out, err := e.kubectl("get", "catsel", "kkp")
	if err != nil {
		t.Fatalf("kubectl get: %v\n%s", err, out)
	}
	t.Logf("\n%s", out)
	lines := strings.Split(out, "\n")
	e.equal("titles", strings.Fields(lines[0]), []string{"NAME", "READY", "APPLIED", "HELD", "PUSHED", "SOURCE", "SELECTED", "AGE", "STATUS"})
	if status := strings.Index(lines[0], "STATUS"); status > 80 {
		t.Errorf("the message begins in column %d", status)
	}
	e.equal("values", strings.Fields(lines[1])[:6], []string{"kkp", "True", "Unknown", "True", "v1", "2"})
}

// A pipeline waits for Held: Ready is True all the time, because the last good artifact is served.
func TestKubectlWaitsUntilNothingIsHeld(t *testing.T) {
	e, _ := publishGuarded(t, "argocd nginx")
	if _, err := e.kubectl("version", "--client"); errors.Is(err, exec.ErrNotFound) {
		t.Skip("kubectl is not there")
	}
	waits := func(what, condition string, want bool) {
		t.Helper()
		out, err := e.kubectl("wait", "catsel/kkp", "--for=condition="+condition, "--timeout=1s")
		if (err != nil) != want {
			t.Errorf("%s, kubectl wait for %s: %v %s", what, condition, err, out)
		}
	}
	waits("published", "Held=False", false)
	e.source(applications(t, "argocd"))
	e.reconcile("kkp")
	waits("held", "Ready", false)
	waits("held", "Held=False", true)
	e.approveHeld()
	e.good()
	waits("approved", "Held=False", false)
	e.edit(exclude("falco"))
	waits("edited, and not reconciled yet", "Held=False", true)
}
