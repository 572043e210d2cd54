// SPDX-License-Identifier: Apache-2.0

package approvalfile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/approvalfile"
	"github.com/winnow-dev/winnow/render/yamledit"
)

var (
	apps   = types.NamespacedName{Namespace: "flux-system", Name: "apps"}
	first  = "argocd/2.13.0"
	second = "HelmRelease.helm.toolkit.fluxcd.io/monitoring/grafana:live#2"
)

const head = "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata:\n  name: apps\n"

// Each case marks with <+ and +> what Add inserts. NEW is the first entry, OLD one that is there.
func TestAddInsertsIntoTheStyleOfTheFile(t *testing.T) {
	for name, marked := range map[string]string{
		"no safeguards": head + "spec:\n  sources:\n  - name: a # the catalog\n" +
			"<+  safeguards:\n    approve:\n    - NEW\n+>",
		"no safeguards, and no line break at the end": head + "spec:\n  sources:\n  - name: a" +
			"<+\n  safeguards:\n    approve:\n    - NEW+>",
		"no safeguards, and comments at the end": head + "spec:\n  sources:\n  - name: a\n    # of a\n" +
			"<+  safeguards:\n    approve:\n    - NEW\n+>  # of the spec\n\n# of the file\n",
		"no safeguards, and blank lines at the end": head + "spec:\n  sources:\n  - name: a\n<+  safeguards:\n    approve:\n    - NEW\n+>\n\n",
		"indented lists": head + "spec:\n    sources:\n      - name: a\n    interval: 1m\n" +
			"<+    safeguards:\n        approve:\n          - NEW\n+>",
		"the spec before the rest": "spec:\n  sources: [{name: a}]\n<+  safeguards:\n    approve:\n    - NEW\n+>" + head,
		"a text of several lines": head + "spec:\n  sources: [{name: a}]\n  limit:\n    expression: |\n      a ||\n\n      # b\n      b\n" +
			"<+  safeguards:\n    approve:\n    - NEW\n+>",
		"other safeguards": head + "spec:\n  sources:\n  - name: a\n  safeguards: # careful\n    onRemoval: Hold # yes\n" +
			"<+    approve:\n    - NEW\n+>  suspend: false\n",
		"safeguards with nothing":        head + "spec:\n  sources: [{name: a}]\n  safeguards: # none\n<+    approve:\n    - NEW\n+>  suspend: false\n",
		"safeguards in braces, empty":    head + "spec:\n  safeguards: {<+approve: [NEW]+>}\n  sources: [{name: a}]\n",
		"safeguards in braces":           head + "spec:\n  safeguards: {<+approve: [NEW], +>onRemoval: Hold}\n",
		"approve with nothing":           head + "spec:\n  safeguards:\n    approve: # none yet\n<+    - NEW\n+>    onRemoval: Hold\n",
		"approve in brackets, empty":     head + "spec:\n  safeguards:\n    approve: [<+NEW+>] # none\n",
		"approve in brackets":            head + "spec:\n  safeguards:\n    approve: [ OLD<+, NEW+> ]\n",
		"approve in brackets of braces":  head + "spec:\n  safeguards: {approve: ['OLD'<+, 'NEW'+>], onRemoval: Hold}\n",
		"approve in brackets over lines": head + "spec:\n  safeguards:\n    approve: [\n      \"OLD\"<+, \"NEW\"+>, # why\n    ]\n",
		"a list":                         head + "spec:\n  safeguards:\n    approve:\n    # v1\n    - OLD # ok\n<+    - NEW\n+>    # v2 comes\n  suspend: false\n",
		"a list with quotes":             head + "spec:\n  safeguards:\n    approve:\n      -   'OLD'\n<+      -   'NEW'\n+>",
		"a list at the end":              head + "spec:\n  safeguards:\n    approve:\n    - OLD<+\n    - NEW+>",
		"an anchor elsewhere":            head + "spec:\n  exclude: &e [b]\n  versions:\n  - names: *e\n    latest: 1\n<+  safeguards:\n    approve:\n    - NEW\n+>",
		"an anchor of the list":          head + "spec:\n  safeguards:\n    approve: &a\n      - OLD\n<+      - NEW\n+>",
		"characters of several bytes":    head + "spec:\n  safeguards: {onRemoval: Hold, \"approve\": [OLD<+, NEW+>]} # ä é 日本\n",
		"a document with end and start":  "%YAML 1.1\n---\n" + head + "spec:\n  sources: [{name: a}]\n<+  safeguards:\n    approve:\n    - NEW\n+>...\n---\na: b\n",
		"other documents around":         "# first\na: |\n  kind: CatalogSelection\n---\n" + head + "spec:\n  sources: [{name: a}]\n<+  safeguards:\n    approve:\n    - NEW\n+>---\n# last\nb: c\n",
		"a namespace, and a namesake":    strings.Replace(head, "  name", "  namespace: flux-system\n  name", 1) + "spec:\n  exclude: [b]\n<+  safeguards:\n    approve:\n    - NEW\n+>---\n" + strings.Replace(head, "  name", "  namespace: other\n  name", 1) + "spec: {}\n",
		"an item of a list":              "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n- apiVersion: catalog.winnow.dev/v1alpha1\n  kind: CatalogSelection\n  metadata: {name: apps}\n  spec:\n    sources:\n    - name: a\n<+    safeguards:\n      approve:\n      - NEW\n+>",
		"a byte order mark":              "\ufeff" + head + "spec:\n  safeguards:\n    approve: [<+NEW+>]\n",
	} {
		for _, newline := range []string{"\n", "\r\n"} {
			marked := strings.NewReplacer("NEW", first, "OLD", second, "\n", newline).Replace(marked)
			start, rest, _ := strings.Cut(marked, "<+")
			added, end, _ := strings.Cut(rest, "+>")
			found, err := approvalfile.Find([]byte(start+end), apps)
			if err != nil {
				t.Errorf("%s, %q: %v", name, newline, err)
				continue
			}
			if got, err := found.Add([]string{first}); err != nil || string(got) != start+added+end {
				t.Errorf("%s, %q: %v:\n%s\nwant:\n%s", name, newline, err, got, start+added+end)
			}
		}
	}
}

func TestAddReplacesAWrittenNull(t *testing.T) {
	for before, want := range map[string]string{
		"  safeguards: null # none\n":     "  safeguards: {approve: [NEW]} # none\n",
		"  safeguards:\n    approve: ~\n": "  safeguards:\n    approve: [NEW]\n",
	} {
		found, err := approvalfile.Find([]byte(head+"spec:\n"+before), apps)
		if err != nil {
			t.Fatal(err)
		}
		got, err := found.Add([]string{first})
		if want := head + "spec:\n" + strings.ReplaceAll(want, "NEW", first); err != nil || string(got) != want {
			t.Errorf("%v:\n%s\nwant:\n%s", err, got, want)
		}
	}
}

func TestSeveralEntriesAreAddedAndFoundAgain(t *testing.T) {
	for _, spec := range []string{"  exclude: [b]\n", "  safeguards: {}\n", "  safeguards: {approve: []}\n"} {
		found, err := approvalfile.Find([]byte(head+"spec:\n"+spec), apps)
		if err != nil {
			t.Fatal(err)
		}
		edited, err := found.Add([]string{first, second})
		if err != nil {
			t.Fatal(err)
		}
		again, err := approvalfile.Find(edited, apps)
		if err != nil || !slices.Equal(again.Approved(), []string{first, second}) || again.Line() != 1 {
			t.Errorf("%v in line %d: %v", again.Approved(), again.Line(), err)
		}
	}
}

func TestFindRefusesWhatItMustNotEdit(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"nothing":           {"", "it has no CatalogSelection"},
		"another kind":      {strings.Replace(head, "kind: Cat", "kind: Dog", 1), "it has no CatalogSelection"},
		"another name":      {strings.Replace(head, "apps", "others", 1), `but "others"`},
		"another namespace": {head + "  namespace: other\n", `but "other/apps"`},
		"twice":             {head + "---\n" + head, "several times, in lines 1 and 6"},
		"twice in a list":   {"kind: List\nitems:\n- &s {apiVersion: catalog.winnow.dev/v1, kind: CatalogSelection, metadata: {name: apps}}\n- {<<: *s}\n", "several times"},
		"no YAML":           {head + "spec: [\n", "it is no YAML"},
		"a template":        {head + "spec:\n  {{ .Values.spec }}\n", "line"},
		"a key twice":       {head + "kind: CatalogSelection\n", "twice"},
		"aliases without end": {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n", "aliases"},
		"deep nesting": {strings.Repeat("[", 2000) + strings.Repeat("]", 2000), ""},
		"zeros":        {strings.Repeat("\x00", 100), "no YAML"},
	} {
		if _, err := approvalfile.Find([]byte(test.content), apps); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	encrypted := head + "spec:\n  exclude: ['ENC[AES256_GCM]']\nsops:\n  mac: x\n"
	if _, err := approvalfile.Find([]byte(encrypted), apps); !errors.Is(err, yamledit.ErrEncrypted) {
		t.Errorf("encrypted: %v", err)
	}
}

func TestAddRefusesWhatItCannotEdit(t *testing.T) {
	many := strings.Repeat("    - "+first+"\n", 1000)
	for name, test := range map[string]struct{ content, entry, want string }{
		"JSON":                  {`{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelection", "metadata": {"name": "apps"}, "spec": {"exclude": []}}`, first, "by hand"},
		"no spec":               {head, first, "by hand"},
		"a spec that is a list": {head + "spec:\n- a\n", first, "by hand"},
		"a spec in braces":      {head + "spec: {exclude: [b]}\n", first, "by hand"},
		"merged safeguards":     {head + "x: &x {safeguards: {onRemoval: Hold}}\nspec:\n  <<: *x\n  exclude: [b]\n", first, "by hand"},
		"merged approvals":      {head + "x: &x {approve: [" + second + "]}\nspec:\n  safeguards:\n    <<: *x\n    onRemoval: Hold\n", first, "by hand"},
		"an alias":              {head + "x: &x {onRemoval: Hold}\nspec:\n  safeguards: *x\n", first, "by hand"},
		"a shared list":         {head + "spec:\n  safeguards:\n    approve: &x\n    - " + second + "\nx: *x\n", first, "by hand"},
		"a text":                {head + "spec:\n  safeguards:\n    approve: all\n", first, "by hand"},
		"an element below":      {head + "spec:\n  safeguards:\n    approve:\n    -\n      " + second + "\n", first, "by hand"},
		"an element in lines":   {head + "spec:\n  safeguards:\n    approve:\n    - \"sha256:\n      12\"\n", first, "by hand"},
		"too many":              {head + "spec:\n  safeguards:\n    approve:\n" + many, first, "1000"},
		"no entry":              {head + "spec:\n  exclude: [b]\n", "argocd\nevil: true", "names nothing"},
	} {
		found, err := approvalfile.Find([]byte(test.content), apps)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := found.Add([]string{test.entry}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q:\n%s", name, err, test.want, got)
		}
	}
}
