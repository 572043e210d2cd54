// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	quotedMessage = regexp.MustCompile(`"([^"\n]+)"`)
	metricRow     = regexp.MustCompile("(?m)^\\| `((?:winnow|gotk)_[a-z_]+)` \\| ([a-z]+) \\|([^|]*)\\|")
)

// constantsOf returns the values of the string constants of the API whose names end so.
func constantsOf(t *testing.T, suffix string) (values []string) {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join(root, "api/v1alpha1/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		parsed, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if !strings.HasSuffix(name.Name, suffix) || i >= len(spec.Values) {
					continue
				}
				literal, ok := spec.Values[i].(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					continue
				}
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, value)
			}
			return true
		})
	}
	return values
}

// An on-call engineer searches the page for what a condition has.
func TestEveryConditionAndReasonIsASymptom(t *testing.T) {
	page := read(t, filepath.Join(root, "docs/symptoms.md"))
	types, reasons := constantsOf(t, "Condition"), constantsOf(t, "Reason")
	if len(types) < 7 || len(reasons) < 40 {
		t.Fatalf("only %d types of conditions and %d reasons are found", len(types), len(reasons))
	}
	for _, word := range slices.Concat(types, reasons, []string{"Ready", "Reconciling", "Stalled", "ProgressingWithRetry"}) {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("docs/symptoms.md does not have %s", word)
		}
	}
	for _, condition := range append(types, "Ready", "Reconciling", "Stalled") {
		if !strings.Contains(page, "\n| `"+condition+"` | ") {
			t.Errorf("the table of conditions does not have %s", condition)
		}
	}
}

// An alert leads to a section with a command, and each section belongs to an alert.
func TestEveryAlertHasARunbook(t *testing.T) {
	address := regexp.MustCompile(`^https://github.com/winnow-dev/winnow/blob/(main|v\d+\.\d+\.\d+)/docs/symptoms.md#`)
	versions := map[string]bool{}
	var rules struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert       string
					Annotations map[string]string
				}
			}
		}
	}
	content, err := os.ReadFile(filepath.Join(root, "config/monitoring/prometheus_rule.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &rules); err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(read(t, filepath.Join(root, "docs/symptoms.md")), "\n## Alerts\n")
	sections := map[string]string{}
	for _, section := range strings.Split(page, "\n### ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		sections[name] = text
	}
	for _, group := range rules.Spec.Groups {
		for _, rule := range group.Rules {
			url := rule.Annotations["runbook_url"]
			at := address.FindStringSubmatch(url)
			if at == nil || strings.TrimPrefix(url, at[0]) != strings.ToLower(rule.Alert) {
				t.Fatalf("%s has the runbook_url %q", rule.Alert, url)
			}
			versions[at[1]] = true
			if !strings.Contains(sections[rule.Alert], "```sh\n") {
				t.Errorf("docs/symptoms.md has no section with a command for %s", rule.Alert)
			}
			delete(sections, rule.Alert)
		}
	}
	if len(versions) != 1 {
		t.Errorf("the runbooks are of several versions: %v", versions)
	}
	for name := range sections {
		t.Errorf("docs/symptoms.md has a section for %s, which is no alert", name)
	}
}

// The file is what a reconciler has, by a test of package controllers.
func TestMetricsAreDocumentedAsTheyAre(t *testing.T) {
	page := map[string]string{}
	for _, row := range metricRow.FindAllStringSubmatch(read(t, filepath.Join(root, "docs/controller.md")), -1) {
		page[row[1]] = row[2] + " " + strings.Join(strings.Fields(strings.NewReplacer("`", "", ",", "").Replace(row[3])), " ")
	}
	exposed := map[string]string{}
	label := regexp.MustCompile(`(\w+)="`)
	for line := range strings.Lines(read(t, filepath.Join(root, "controllers/testdata/metrics.txt"))) {
		line = strings.TrimSpace(line)
		if described, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(described, " ")
			exposed[name] = kind
			continue
		}
		name, labels, _ := strings.Cut(line, "{")
		kind, _, _ := strings.Cut(exposed[name], " ")
		exposed[name] = kind + " "
		var names []string
		for _, match := range label.FindAllStringSubmatch(labels, -1) {
			names = append(names, match[1])
		}
		slices.Sort(names)
		exposed[name] += strings.Join(names, " ")
	}
	for name, want := range exposed {
		if got := page[name]; got != want {
			t.Errorf("docs/controller.md has %s as %q, want %q", name, got, want)
		}
		delete(page, name)
	}
	for name := range page {
		t.Errorf("docs/controller.md has %s, which no reconciler exposes", name)
	}
	if len(exposed) < 15 {
		t.Errorf("only %d metrics", len(exposed))
	}
}

func TestQuotedMessagesAreThoseOfTheCode(t *testing.T) {
	var code strings.Builder
	for _, file := range files(t, ".go") {
		if !strings.HasSuffix(file, "_test.go") {
			code.WriteString(read(t, file))
		}
	}
	quoted := 0
	conditions, _, _ := strings.Cut(read(t, filepath.Join(root, "docs/symptoms.md")), "\n## Alerts\n")
	for _, line := range strings.Split(conditions, "\n") {
		for _, match := range quotedMessage.FindAllStringSubmatch(line, -1) {
			quoted++
			if !strings.Contains(code.String(), match[1]) {
				t.Errorf("no message has %q", match[1])
			}
		}
	}
	if quoted < 20 {
		t.Errorf("only %d messages are found", quoted)
	}
}
