// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/guard"
)

func settings(t *testing.T, spec string) guard.Settings {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte("spec:\n"+spec), &object); err != nil {
		t.Fatal(err)
	}
	return guard.SettingsOf(object)
}

func TestWhatIsReplacedInALiveDefinition(t *testing.T) {
	const block = "  defaultValuesBlock: |\n"
	for _, test := range []struct {
		name, live, next string
		want             string
		keep             map[string]any
	}{
		{"nothing", "  defaultVersion: 1.0.0\n" + block + "    a: 1\n", "  defaultVersion: 1.0.0\n" + block + "    a: 1\n", "", nil},
		{"the default version", "  defaultVersion: 1.2.3\n", "  defaultVersion: 1.3.0\n", "its defaultVersion 1.2.3 would become 1.3.0", nil},
		{"not what the artifact leaves to the cluster", "  defaultVersion: 1.2.3\n" + block + "    a: 1\n", "  method: helm\n", "", nil},
		{"not what the cluster does not set", "  method: helm\n", "  defaultVersion: 1.2.3\n" + block + "    a: 1\n", "", nil},
		{"values", block + "    a: {b: 1, c: 2}\n    d: [1]\n    \"e.f\": x\n    g: 1\n", block + "    a: {b: 2, c: 2}\n    d: [1, 2]\n    \"e.f\": y\n    h: 1\n",
			`its default values differ in a.b, d, ["e.f"], g, h`, map[string]any{
				"a": map[string]any{"b": int64(1)}, "d": []any{int64(1)}, "e.f": "x", "g": int64(1),
			}},
		{"values of the older field", "  defaultValues: {a: {b: 1}, c: 3}\n", block + "    a: {b: 2}\n    c: 3\n", "its default values differ in a.b",
			map[string]any{"a": map[string]any{"b": int64(1)}}},
		{"values of the older field beside a blank block", "  defaultValuesBlock: ' '\n  defaultValues: {a: 1, 'y': 'off', t: '2026-01-02', n: 1.5e+30}\n", block + "    a: 2\n    'y': 'off'\n    t: '2026-01-02'\n    n: 1.5e+30\n",
			"its default values differ in a", map[string]any{"a": int64(1)}},
		{"values that say the same", "  defaultValues: {a: 1}\n", block + "    # one\n    a: 1\n", "", nil},
		{"aliases and merge keys that are written out", block + "    a: &a {b: 1}\n    c: *a\n    d: {<<: *a, e: 2}\n", block + "    a: {b: 1}\n    c: {b: 1}\n    d: {b: 1, e: 2}\n", "", nil},
		{"a mapping that becomes a text", block + "    a: {b: 1}\n", block + "    a: x\n", "its default values differ in a",
			map[string]any{"a": map[string]any{"b": int64(1)}}},
		{"templates that are no YAML", block + "    {{ if x }}\n", block + "    a: 1\n", "its default values differ, and cannot be compared by field", nil},
		{"keys that the readers of a block have as booleans", block + "    y: 1\n    off: {n: 2026-01-02}\n", block + "    y: 2\n    off: {n: x}\n",
			"its default values differ in false.false, true", map[string]any{"true": int64(1), "false": map[string]any{"false": "2026-01-02"}}},
		{"a merge key behind a key, which wins for the readers of a block", block + "    d: {b: 2, <<: {b: 1}}\n", block + "    d: {b: 1}\n", "", nil},
		{"both", "  defaultVersion: v1\n" + block + "    a: 1\n", "  defaultVersion: v2\n" + block + "    a: 2\n",
			"its defaultVersion v1 would become v2; its default values differ in a", map[string]any{"a": int64(1)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := settings(t, test.next).Replaces(settings(t, test.live))
			if got.String() != test.want || got.Nothing() != (test.want == "") {
				t.Errorf("it says %q, want %q", got, test.want)
			}
			if !reflect.DeepEqual(got.Keep, test.keep) && len(got.Keep)+len(test.keep) > 0 {
				t.Errorf("it keeps %v, want %v", got.Keep, test.keep)
			}
		})
	}
}

// What a message states of live values are paths: the values may be secret, and there may be many.
func TestAMessageHasNoValuesAndIsBounded(t *testing.T) {
	var live, next strings.Builder
	for i := range 1000 {
		key := fmt.Sprintf("%s%03d", strings.Repeat("k", 300), i)
		live.WriteString("    " + key + ": hunter2\n")
		next.WriteString("    " + key + ": other\n")
	}
	const block = "  defaultValuesBlock: |\n"
	message := settings(t, block+next.String()).Replaces(settings(t, block+live.String())).String()
	if strings.Contains(message, "hunter2") || strings.Contains(message, "other") || len(message) > 1000 || !strings.HasSuffix(message, " and 990 more") {
		t.Errorf("the message has %d bytes: %s", len(message), message)
	}
}

// An alias bomb in the values of a live definition is not expanded.
func TestValuesOfAliasesAreNotExpanded(t *testing.T) {
	bomb := "    a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		p := "*" + string(c-1)
		bomb += "    " + string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat(p+",", 10), ",") + "]\n"
	}
	live := guard.SettingsOf(map[string]any{"spec": map[string]any{"defaultValuesBlock": strings.ReplaceAll(bomb, "    ", "")}})
	got := settings(t, "  defaultValuesBlock: |\n    a: 1\n").Replaces(live)
	if got.String() != "its default values differ, and cannot be compared by field" {
		t.Errorf("it says %q", got)
	}
}

func TestWhoseTheDefinitionsOfThePlatformAre(t *testing.T) {
	for label, want := range map[string]bool{
		"apps.kubermatic.k8c.io/managed-by": true, "applicationcatalog.k8c.io/managed-by": true, "app.kubernetes.io/managed-by": false,
	} {
		object := &guard.Live{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{label: "KKP"}}}
		if got := guard.OfPlatform(object); got != want {
			t.Errorf("with the label %s: %v", label, got)
		}
	}
	for value, want := range map[string]bool{"true": true, "yes": true, "false": false, "False": false, "": false} {
		annotations := map[string]string{"apps.k8c.io/managed-by-external-manager": value}
		if got := guard.OfPlatform(&guard.Live{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}); got != want {
			t.Errorf("with the annotation %v: %v", annotations, got)
		}
		if guard.OfPlatform(&guard.Live{ObjectMeta: metav1.ObjectMeta{Labels: annotations}}) {
			t.Errorf("with the label %v", annotations)
		}
	}
}
