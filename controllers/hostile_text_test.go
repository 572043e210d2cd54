// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Whoever writes a catalog, or the status of a source, must not control the terminal of whoever reads a status or an
// event, nor reverse what is shown there.
func TestHostileTextsAreShownAsText(t *testing.T) {
	const escaped, plain = `"\e[2J\u202e\u2066\0\u200bx"`, "\x1b[2J\u202e\u2066\u200bx"
	e := newEnvironment(t)
	e.selection("kkp", func(cs *v1alpha1.CatalogSelection) {
		cs.Spec.Limit = &v1alpha1.Limit{NameSelector: []string{"argocd", plain}}
	})
	good := definition("argocd", "1.0.0")
	metadata := "deprecated: " + escaped + "\nversions: {1.0.0: {deprecated: " + escaped + "}}\n"
	e.source(catalogArchive(t, "applications/argocd/application.yaml", good, "applications/argocd/metadata.yaml", metadata))
	published := e.reconcile("kkp")
	if len(published.Status.Deprecated) != 2 || !strings.Contains(published.Status.Deprecated[0].Message, "[2J") {
		t.Fatalf("nothing of the text is in status.deprecated: %+v", published.Status.Deprecated)
	}
	for name, content := range map[string]string{
		"a name":    strings.Replace(good, "name: argocd", "name: "+escaped, 1),
		"a version": strings.Replace(good, "version: 1.0.0", "version: "+escaped, 1),
		"a key":     good + "? " + escaped + "\n: 1\n? " + escaped + "\n: 2\n",
		"a kind":    strings.Replace(good, "kind: ApplicationDefinition", "kind: "+escaped, 1),
		"a text":    good + "\u202e *a\n",
		"bytes":     good + "\xff\n",
	} {
		e.source(catalogArchive(t, "applications/argocd/application.yaml", content))
		cs := e.reconcile("kkp")
		if name != "a version" && !strings.Contains(readyOf(cs), "applications/argocd/application.yaml") {
			t.Errorf("%s: Ready does not name the file: %s", name, readyOf(cs))
		}
	}
	e.source(catalogArchive(t, "applications/argocd/"+plain[4:]+".yaml", good, "applications/argocd/a/b.yaml", good))
	e.reconcile("kkp")
	e.setReady(sourcev1.OCIRepositoryKind, e.key("catalog"), metav1.ConditionFalse, "Failed", plain)
	e.reconcile("kkp")

	texts := slices.Clone(e.events.full)
	for _, body := range e.traffic.bodies {
		var object struct{ Status any }
		if err := json.Unmarshal([]byte(body), &object); err != nil {
			t.Fatal(err)
		}
		texts = appendTexts(texts, object.Status)
	}
	if len(texts) < 100 {
		t.Fatalf("only %d texts", len(texts))
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("not printable: %q", text)
		}
	}
}

func readyOf(cs *v1alpha1.CatalogSelection) string {
	for _, c := range cs.Status.Conditions {
		if c.Type == "Ready" {
			return c.Message
		}
	}
	return ""
}

// appendTexts appends the texts in a value of JSON.
func appendTexts(texts []string, value any) []string {
	switch typed := value.(type) {
	case string:
		return append(texts, typed)
	case []any:
		for _, element := range typed {
			texts = appendTexts(texts, element)
		}
	case map[string]any:
		for key, element := range typed {
			texts = appendTexts(append(texts, key), element)
		}
	}
	return texts
}
