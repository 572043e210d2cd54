package controllers

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// described returns what kubectl describe prints of an object that is no built-in one, without labels,
// annotations and events: every field by its name, in this order, a line a value.
func described(t *testing.T, cs *v1alpha1.CatalogSelection) []string {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cs)
	if err != nil {
		t.Fatal(err)
	}
	metadata := content["metadata"].(map[string]any)
	for _, field := range []string{"managedFields", "labels", "annotations"} {
		delete(metadata, field)
	}
	return describedFields(content, "")
}

func describedFields(content map[string]any, indent string) []string {
	var lines []string
	fields := make([]string, 0, len(content))
	for field := range content {
		fields = append(fields, field)
	}
	slices.Sort(fields)
	for _, field := range fields {
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

func TestDescribeIsReadableAtAThousandApplications(t *testing.T) {
	e := newEnvironment(t)
	e.source(realistic(t, 1000, 3))
	e.selection("kkp")
	cs, _ := e.publish("kkp")
	lines := described(t, cs)
	t.Logf("%d lines", len(lines))
	if len(lines) > 150 {
		t.Errorf("describe prints %d lines", len(lines))
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not there to compare with")
	}
	out, err := exec.CommandContext(t.Context(), kubectl, "--kubeconfig", system.Kubeconfig(), "-n", cs.Namespace, "describe", "catsel", "kkp").CombinedOutput()
	t.Logf("kubectl: %d lines, %v", strings.Count(string(out), "\n"), err)
}
