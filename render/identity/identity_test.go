// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/identity"
	"github.com/winnow-dev/winnow/render/value"
)

const (
	kkpHead  = "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata: {name: a}\n"
	cozyHead = "apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata: {name: a}\n"
)

// factsOf reads a document from the nodes of a catalog and from an object of the API, which must say
// the same.
func factsOf(t *testing.T, document string) identity.Facts {
	t.Helper()
	loaded, err := catalog.Load(t.Context(), fstest.MapFS{"applications/a/application.yaml": {Data: []byte(document)}})
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal([]byte(document), &object); err != nil {
		t.Fatal(err)
	}
	facts := loaded.Applications[0].Identity
	if other := identity.Of(value.Of(object)); !reflect.DeepEqual(facts, other) {
		t.Errorf("the catalog says %v, the object %v", facts, other)
	}
	return facts
}

// version is an entry of spec.versions.
func version(name, source string) string {
	return "  - {version: \"" + name + "\", template: {source: {" + source + "}}}\n"
}

const helm = "helm: {url: 'https://charts.example', chartName: a, chartVersion: \"1.0.0\"}"

func TestTheOriginIsTheChartOrTheCommit(t *testing.T) {
	base := factsOf(t, kkpHead+"spec:\n  versions:\n"+version("1.0.0", helm)).Origins
	git := "git: {remote: 'https://git.example/a', path: a, ref: {commit: abc, branch: main}}"
	gitBase := factsOf(t, kkpHead+"spec:\n  versions:\n"+version("1.0.0", git)).Origins
	for _, test := range []struct {
		name, old, new string
		same           bool
	}{
		{"another URL", "charts.example", "evil.example", false},
		{"another chart", "chartName: a", "chartName: b", false},
		{"another version of the chart", "chartVersion: \"1.0.0\"", "chartVersion: \"1.0.1\"", false},
		{"no version of the chart", ", chartVersion: \"1.0.0\"", "", false},
		{"credentials", "chartName: a", "chartName: a, credentials: {username: {name: x, key: y}}", true},
		{"a scalar written otherwise", "chartName: a", "chartName: 'a'", true},
		{"another repository", "git.example/a", "git.example/b", false},
		{"another path", "path: a", "path: b", false},
		{"another commit", "commit: abc", "commit: abd", false},
		{"another branch", "branch: main", "branch: stable", false},
		{"a tag instead", "commit: abc, branch: main", "tag: v1.0.0", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			source, want := helm, base
			if strings.Contains(git, test.old) && !strings.Contains(helm, test.old) {
				source, want = git, gitBase
			}
			edited := strings.Replace(source, test.old, test.new, 1)
			if edited == source {
				t.Fatalf("%q is not there", test.old)
			}
			got := factsOf(t, kkpHead+"spec:\n  versions:\n"+version("1.0.0", edited)).Origins
			if reflect.DeepEqual(got, want) != test.same {
				t.Errorf("the origins are %q and %q", want, got)
			}
		})
	}
}

func TestVersionsOfOneChartHaveOneOrigin(t *testing.T) {
	at := func(version string) string { return strings.Replace(helm, "1.0.0", version, 1) }
	for _, test := range []struct {
		name, versions string
		want           int
	}{
		{"each its own version of the chart", version("1.0.0", helm) + version("v2.0.0", at("v2.0.0")), 1},
		{"one version of the chart for all", version("1.0.0", helm) + version("2.0.0", helm), 2},
		{"one without a source", version("1.0.0", helm) + version("2.0.0", ""), 2},
		{"none with a source", version("1.0.0", "") + version("2.0.0", ""), 0},
		{"none", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			document := kkpHead + "spec:\n  method: helm\n"
			if test.versions != "" {
				document += "  versions:\n" + test.versions
			}
			facts := factsOf(t, document)
			if len(facts.Origins) != test.want || facts.Fields != nil {
				t.Errorf("the facts are %v", facts)
			}
		})
	}
}

func TestTheIdentityOfACozystackDefinition(t *testing.T) {
	const spec = "spec:\n  application: {kind: VM, plural: vms, singular: vm}\n" +
		"  release:\n    prefix: vm-\n    chartRef: {kind: ExternalArtifact, name: vm, namespace: cozy-system}\n"
	facts := factsOf(t, cozyHead+spec)
	want := map[string]string{
		"spec.backend.type": "Helm", "spec.release.prefix": "vm-", "spec.application.kind": "VM", "spec.application.plural": "vms",
	}
	if !reflect.DeepEqual(facts.Fields, want) || len(facts.Origins) != 1 {
		t.Errorf("the facts are %v", facts)
	}
	other := factsOf(t, cozyHead+strings.Replace(spec, "name: vm, namespace", "name: other, namespace", 1))
	if reflect.DeepEqual(other.Origins, facts.Origins) || !reflect.DeepEqual(other.Fields, want) {
		t.Errorf("with another chart the facts are %v", other)
	}
	bare := factsOf(t, cozyHead+"spec: {application: {kind: 7, plural: [x]}}\n")
	want = map[string]string{"spec.backend.type": "Helm", "spec.release.prefix": "", "spec.application.kind": "7", "spec.application.plural": ""}
	if !reflect.DeepEqual(bare, identity.Facts{Fields: want}) {
		t.Errorf("the facts of a definition without a release are %v", bare)
	}
}

// The proposed union has another group, and the same facts: a definition is known by its kind and its fields.
func TestTheIdentityOfABackend(t *testing.T) {
	const head = "apiVersion: apps.cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata: {name: a}\nspec:\n  application: {kind: VM, plural: vms}\n"
	const helm = "prefix: vm-, chartRef: {kind: ExternalArtifact, name: vm}"
	const terraform = "prefix: vm-, sourceRef: {kind: Bucket, name: vm}"
	release := factsOf(t, head+"  release: {"+helm+"}\n")
	for _, test := range []struct {
		name, spec string
		// fields are "type" and "path=prefix", and same reports whether the origin is that of the release.
		fields string
		same   bool
	}{
		{"Helm", "  backend: {type: Helm, helm: {" + helm + "}}\n", "Helm spec.backend.helm.prefix=vm-", true},
		{"no type", "  backend: {helm: {" + helm + "}}\n", "Helm spec.backend.helm.prefix=vm-", true},
		{"null for a backend", "  backend: null\n  release: {" + helm + "}\n", "Helm spec.release.prefix=vm-", true},
		{"Terraform", "  backend: {type: Terraform, terraform: {" + terraform + "}}\n", "Terraform spec.backend.terraform.prefix=vm-", false},
		{"both", "  backend: {type: Helm, helm: {" + helm + "}}\n  release: {" + helm + "}\n", "Helm spec.backend.helm.prefix=vm- spec.release.prefix=vm-", true},
		{"both, with other charts", "  backend: {type: Helm, helm: {" + helm + "}}\n  release: {" + strings.Replace(helm, "name: vm", "name: x", 1) + "}\n",
			"Helm spec.backend.helm.prefix=vm- spec.release.prefix=vm-", false},
		{"a type that nothing knows", "  backend: {type: Argo, argo: {" + helm + "}}\n", "Argo spec.backend.prefix=vm-", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			facts := factsOf(t, head+test.spec)
			want := map[string]string{"spec.application.kind": "VM", "spec.application.plural": "vms"}
			for word := range strings.FieldsSeq(test.fields) {
				path, prefix, isPrefix := strings.Cut(word, "=")
				if !isPrefix {
					path, prefix = identity.BackendType, word
				}
				want[path] = prefix
			}
			if !reflect.DeepEqual(facts.Fields, want) || reflect.DeepEqual(facts.Origins, release.Origins) != test.same {
				t.Errorf("the facts are %v, want %v", facts, want)
			}
		})
	}
	other := map[string]any{"kind": "VM", "spec": map[string]any{"application": map[string]any{"kind": "VM"}}}
	if facts := identity.Of(value.Of(other)); facts.Fields != nil {
		t.Errorf("another kind has the facts %v", facts)
	}
}

func TestALongValueStaysShortAndDistinct(t *testing.T) {
	prefix := func(last string) string {
		return factsOf(t, cozyHead+"spec: {release: {prefix: "+strings.Repeat("ä", 5000)+last+"}}\n").Fields["spec.release.prefix"]
	}
	if a, b := prefix("a"), prefix("b"); a == b || len(a) > 253 || a != prefix("a") {
		t.Errorf("the values are %q and %q", a, b)
	}
}

func TestMergedAndAliasedFieldsCount(t *testing.T) {
	plain := factsOf(t, kkpHead+"spec:\n  versions:\n"+version("1.0.0", helm))
	merged := factsOf(t, kkpHead+"spec:\n  documentation: &s\n    "+helm+
		"\n  versions:\n  - version: \"1.0.0\"\n    template:\n      source:\n        <<: *s\n")
	if !reflect.DeepEqual(plain, merged) {
		t.Errorf("the facts are %v and %v", plain, merged)
	}
}
