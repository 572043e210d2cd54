// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/winnow-dev/winnow/render/lint/rules"
	"github.com/winnow-dev/winnow/render/lint/schema"
)

const kkpDefinition = `apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: app}
spec:
  description: d
  method: helm
  defaultValuesBlock: |
    a: 1
  defaultNamespace: {name: app, create: true, labels: {a: b}}
  versions:
  - version: 1.0.0
    template:
      source:
        helm:
          url: oci://quay.io/charts
          chartName: app
          chartVersion: 1.0.0
`

const cozystackDefinition = `apiVersion: cozystack.io/v1alpha1
kind: ApplicationDefinition
metadata: {name: app}
spec:
  application: {kind: App, plural: apps, singular: app, openAPISchema: "{}"}
  release:
    prefix: ""
    chartRef: {kind: ExternalArtifact, name: app, namespace: cozy-system}
  secrets:
    include:
    - resourceNames: [a]
      matchLabels: {a: b}
`

// proposedDefinition is one of Cozystack's proposal of backends.
const (
	proposedHelm       = "{type: Helm, helm: {prefix: a-, chartRef: {kind: HelmChart, name: app}, labels: {a: b}, valuesFrom: [{kind: Secret, name: a}]}}"
	proposedDefinition = `apiVersion: apps.cozystack.io/v1alpha1
kind: ApplicationDefinition
metadata: {name: app}
spec:
  application: {kind: App, plural: apps, singular: app, openAPISchema: "{}"}
  backend: ` + proposedHelm + "\n"
	unservedGroup = `warning schema/unknown-group:1 apiVersion "apps.cozystack.io/v1alpha1" has a group that no release of Cozystack serves: ` +
		"its fields are checked as in Cozystack's proposal, and --crds checks the definition"
)

// What Flux's dry-run refuses, and with it all applications, is an error with the line of the field.
func TestWhatTheAPIServerRefusesIsFound(t *testing.T) {
	for _, test := range []struct {
		name, document, old, new string
		want                     []string // severity rule:line message
	}{
		{"a definition of KKP", kkpDefinition, "", "", nil},
		{"a definition of Cozystack", cozystackDefinition, "", "", nil},
		{"a field with two letters swapped", kkpDefinition, "  method", "  displayNaem: App\n  method",
			[]string{"error schema/misspelt-field:6 spec.displayNaem is no field: did you mean displayName?"}},
		{"a field in another case", kkpDefinition, "chartName:", "chartname:", []string{
			"error kkp/required:14 spec.versions[0].template.source.helm.chartName is missing",
			"error schema/misspelt-field:16 spec.versions[0].template.source.helm.chartname is no field: did you mean chartName?"}},
		{"a field without a value", kkpDefinition, "  method", "  displayNaem:\n  method",
			[]string{"error schema/misspelt-field:6 spec.displayNaem is no field: did you mean displayName?"}},
		{"a field beside the spec", kkpDefinition, "spec:", "specs: {}\nspec:",
			[]string{"error schema/misspelt-field:4 specs is no field: did you mean spec?"}},
		{"a field that nothing is near of", kkpDefinition, "  method", "  replicas: 3\n  method", []string{
			"warning schema/unknown-field:6 spec.replicas is a field that Winnow does not know: an API that does not have it refuses all applications"}},
		{"a field that is there twice, once", kkpDefinition, "  method", "  replicas: 3\n  replicas: 4\n  method", []string{
			"warning schema/unknown-field:6 spec.replicas is a field that Winnow does not know: an API that does not have it refuses all applications",
			`error catalog/format:7 has the key "replicas" twice, first in line 6`}},
		{"a field that a merge key brings", kkpDefinition, "  method: helm", "  method: helm\n  <<: {displayNaem: App}",
			[]string{"error schema/misspelt-field:7 spec.displayNaem is no field: did you mean displayName?"}},
		{"any key where keys are free", kkpDefinition, "labels: {a: b}", "labels: {displayNaem: b}", nil},
		{"a block that is a mapping", kkpDefinition, "Block: |", "Block:",
			[]string{"error schema/type:7 spec.defaultValuesBlock must be a string, not a mapping: write defaultValuesBlock: | and the text below it"}},
		{"null for a text", kkpDefinition, "  method", "  displayName:\n  method",
			[]string{"error schema/type:6 spec.displayName must be a string, not null: leave it out"}},
		{"null for a mapping", kkpDefinition, "{name: app, create: true, labels: {a: b}}", "null",
			[]string{"error schema/type:9 spec.defaultNamespace must be a mapping, not null: leave it out"}},
		{"null among texts", kkpDefinition, "labels: {a: b}", "labels: {a: null}",
			[]string{"error schema/type:9 spec.defaultNamespace.labels.a must be a string, not null: leave it out"}},
		{"null among elements", cozystackDefinition, "[a]", "[a, null]",
			[]string{"error schema/type:11 spec.secrets.include[0].resourceNames[1] must be a string, not null: leave it out"}},
		{"null for what is required is missing, once", cozystackDefinition, "plural: apps", "plural: null",
			[]string{"error cozystack/required:5 spec.application.plural is missing"}},
		{"null where there is a default, or any value", kkpDefinition, "  defaultValuesBlock: |\n    a: 1\n  defaultNamespace: {name: app, create: true",
			"  defaultValues: null\n  defaultNamespace: {name: app, create: null", nil},
		{"what is none of the values that there are", cozystackDefinition, "kind: ExternalArtifact", "kind: OCIRepositroy", []string{
			`error schema/value:8 spec.release.chartRef.kind must be one of OCIRepository, HelmChart, ExternalArtifact, not "OCIRepositroy"`}},
		{"a text that the pattern refuses", cozystackDefinition, `prefix: ""`, "prefix: app_",
			[]string{`error schema/value:7 spec.release.prefix must match ^[a-z0-9-]*$, which "app_" does not`}},
		{"an empty namespace", cozystackDefinition, "namespace: cozy-system", `namespace: ""`,
			[]string{`error cozystack/required:8 spec.release.chartRef.namespace is empty`}},
		{"a number for a text", kkpDefinition, "chartVersion: 1.0.0", "chartVersion: 1.0",
			[]string{"error schema/type:17 spec.versions[0].template.source.helm.chartVersion must be a string, not a number: put it in quotes"}},
		{"a text for a boolean", kkpDefinition, "create: true", "create: 'true'",
			[]string{"error schema/type:9 spec.defaultNamespace.create must be a boolean, not a string"}},
		{"a number among texts", kkpDefinition, "labels: {a: b}", "labels: {a: 1}",
			[]string{"error schema/type:9 spec.defaultNamespace.labels.a must be a string, not a number: put it in quotes"}},
		{"a mapping for a list", cozystackDefinition, "    - resourceNames", "      resourceNames",
			[]string{"error schema/type:10 spec.secrets.include must be a list, not a mapping"}},
		{"a field of an element", cozystackDefinition, "matchLabels", "matchLabel",
			[]string{"error schema/misspelt-field:12 spec.secrets.include[0].matchLabel is no field: did you mean matchLabels?"}},
		{"a backend that Cozystack's releases do not know", cozystackDefinition, "  secrets:", "  backend: {type: Helm, helm: {prefix: \"\", chartRef: {kind: HelmChart, name: app}}}\n  secrets:", []string{
			"warning cozystack/backend:9 spec.backend is a proposal, which no release of Cozystack has: its API server refuses the definition, and Flux then applies nothing"}},
		{"the backend Helm", proposedDefinition, "", "", []string{unservedGroup}},
		{"the backend Terraform", proposedDefinition, proposedHelm,
			"{type: Terraform, terraform: {sourceRef: {kind: Bucket, name: a}, path: ./, prefix: a-, approvePlan: auto, destroyResourcesOnDeletion: true, " +
				"writeOutputsToSecret: {name: '-outputs'}, runnerPodTemplate: {spec: {serviceAccountName: a}}}}", []string{unservedGroup}},
		{"the older form of a backend", proposedDefinition, "backend: " + proposedHelm, "release: {prefix: a-, chartRef: {kind: HelmChart, name: app}}", []string{
			unservedGroup, "warning cozystack/backend:6 spec.release is deprecated: write spec.backend with the type Helm, and the same prefix and chartRef below helm"}},
		{"both forms", proposedDefinition, "  backend:", "  release: {prefix: a-, chartRef: {kind: HelmChart, name: app}}\n  backend:", []string{
			unservedGroup, "warning cozystack/backend:6 spec.release has no effect beside spec.backend: remove it once no older Cozystack reads it"}},
		{"a backend of another type", proposedDefinition, proposedHelm, "{type: Argo, argo: {}}", []string{unservedGroup,
			"warning schema/unknown-field:6 spec.backend.argo is a field that Winnow does not know: an API that does not have it refuses all applications",
			"error schema/value:6 spec.backend.type must be one of Helm, Terraform, not \"Argo\""}},
		{"a backend without the part of its type", proposedDefinition, "type: Helm", "type: Terraform", []string{unservedGroup,
			"error cozystack/required:6 spec.backend.terraform is missing"}},
		{"a required field of Cozystack", cozystackDefinition, "  release:", "  releases:", []string{
			"error cozystack/required:4 spec.release is missing",
			"error schema/misspelt-field:6 spec.releases is no field: did you mean release?"}},
		{"a group with two letters swapped", kkpDefinition, "k8c.io/v1", "k8c.oi/v1",
			[]string{`error schema/api-version:1 apiVersion "apps.kubermatic.k8c.oi/v1" has a group that is not known: did you mean apps.kubermatic.k8c.io?`}},
		{"a version that the group does not have", cozystackDefinition, "v1alpha1", "v1aplha1",
			[]string{`error schema/api-version:1 apiVersion "cozystack.io/v1aplha1" is not served: did you mean cozystack.io/v1alpha1?`}},
		{"a group of somebody else", kkpDefinition, "apps.kubermatic.k8c.io/v1", "kubermatic.k8c.io/v1",
			[]string{`warning schema/unknown-group:1 apiVersion "kubermatic.k8c.io/v1" has a group that is not known: --crds checks the definition`}},
		{"a namespace", kkpDefinition, "{name: app}", "{name: app, namespace: kubermatic}",
			[]string{`warning schema/namespace:3 metadata.namespace "kubermatic" has no effect: definitions are of no namespace`}},
		{"no namespace", kkpDefinition, "{name: app}", "{name: app, namespace: null}", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := linted(t, strings.Replace(test.document, test.old, test.new, 1), "tier: gold\n")
			if !slices.Equal(got, test.want) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestAKeyOfMetadataThatIsMisspelt(t *testing.T) {
	for _, test := range []struct {
		name, metadata string
		want           []string
	}{
		{"labels", "tier: gold\nlables: {a: b}\n", []string{`error catalog/misspelt-key:2 "lables" is a key that only expressions can read: did you mean labels?`}},
		{"deprecated in another case", "tier: gold\nDeprecated: soon\n", []string{`error catalog/misspelt-key:2 "Deprecated" is a key that only expressions can read: did you mean deprecated?`}},
		{"tier", "teir: gold\n", []string{
			`error catalog/misspelt-key:1 "teir" is a key that only expressions can read: did you mean tier?`,
			`warning catalog/tier-missing:1 tier is missing: limit.metadataSelector.tierRefs never selects the application`}},
		{"versions", "tier: gold\nversion: {1.0.0: {}}\n", []string{`error catalog/misspelt-key:2 "version" is a key that only expressions can read: did you mean versions?`}},
		{"no version of the application itself", "tier: gold\nversion: 1.0.0\n", nil},
		{"a fact on a version", "tier: gold\nversions:\n  1.0.0:\n    chanels: [a]\n    require: {}\n    released: now\n", []string{
			`error catalog/misspelt-key:4 "chanels" of the version "1.0.0" is a key that only expressions can read: did you mean channels?`,
			`error catalog/misspelt-key:5 "require" of the version "1.0.0" is a key that only expressions can read: did you mean requires?`}},
		{"locked values", "tier: gold\nlockedValue: [pod.cidr]\nversions:\n  1.0.0:\n    lockdValues: [pod.cidr]\n", []string{
			`error catalog/misspelt-key:2 "lockedValue" is a key that only expressions can read: did you mean lockedValues?`,
			`error catalog/misspelt-key:5 "lockdValues" of the version "1.0.0" is a key that only expressions can read: did you mean lockedValues?`}},
		{"a version that the application lacks", "tier: gold\nversions:\n  1.0.0: {}\n  1.0.O: {}\n  9.9.9: {}\n", []string{
			`warning catalog/unknown-version:4 versions has "1.0.O", which spec.versions does not have: remove the entry, or did you mean "1.0.0"?`,
			`warning catalog/unknown-version:5 versions has "9.9.9", which spec.versions does not have: remove the entry`}},
		{"a component of the platform", "tier: gold\nversions:\n  1.0.0:\n    requires: {kkp: '>=2', kubernets: '>=1', openshift: '4'}\n", []string{
			`warning catalog/unchecked-requirement:4 the version "1.0.0" requires "kubernets", which spec.platform cannot list, so that nothing checks it: did you mean kubernetes?`,
			`warning catalog/unchecked-requirement:4 the version "1.0.0" requires "openshift", which spec.platform cannot list, so that nothing checks it`}},
		{"what expressions look at", "tier: gold\nowner: me\ntime: now\ntags: [a]\nteam: b\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := linted(t, kkpDefinition, test.metadata); !slices.Equal(got, test.want) {
				t.Errorf("found %v\nwant  %v", got, test.want)
			}
		})
	}
}

func TestLockedValuesThatTheDefaultValuesLack(t *testing.T) {
	const metadata = "tier: gold\nlockedValues: [pod.cidr, mode]\nversions: {1.0.0: {lockedValues: ['a\\.b']}}\n"
	missing := func(line, path, advice string) string {
		return "warning catalog/unknown-locked-value:" + line + ` lockedValues has "` + path + `", which the default values do not have, so that a change of the chart's own default value is not noticed` + advice
	}
	for _, test := range []struct {
		name, values string
		want         []string
	}{
		{"all are there", "  defaultValuesBlock: '{pod: {cidr: null}, mode: {}, a.b: 1}'\n", nil},
		{"in a mapping", "  defaultValues: {pod: {cidr: 1}, mode: 2, a.b: 3}\n", nil},
		{"misspelt ones", "  defaultValuesBlock: '{pod: {cird: 1}, mod: 2, a.c: 3}'\n", []string{
			missing("2", "mode", `: did you mean "mod"?`), missing("2", "pod.cidr", `: did you mean "pod.cird"?`), missing("3", `a\\.b`, `: did you mean "a\\.c"?`)}},
		{"none", "", []string{missing("2", "mode", ""), missing("2", "pod.cidr", ""), missing("3", `a\\.b`, "")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := linted(t, strings.Replace(kkpDefinition, "  defaultValuesBlock: |\n    a: 1\n", test.values, 1), metadata)
			got = slices.DeleteFunc(got, func(f string) bool { return !strings.Contains(f, "locked-value") })
			if !slices.Equal(got, test.want) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// Winnow refuses the catalog, and the finding is one.
func TestAKindOfCozystackThatIsTakenIsOneFinding(t *testing.T) {
	result, err := Run(t.Context(), fstest.MapFS{
		"applications/a/application.yaml": {Data: []byte(strings.Replace(cozystackDefinition, "name: app}", "name: a}", 1))},
		"applications/a/metadata.yaml":    {Data: []byte("tier: gold\n")},
		"applications/b/application.yaml": {Data: []byte(strings.Replace(cozystackDefinition, "name: app}", "name: b}", 1))},
		"applications/b/metadata.yaml":    {Data: []byte("tier: gold\n")},
	}, Options{})
	want := []rules.Finding{{Rule: "cozystack/duplicate-kind", Severity: rules.Error, Path: "applications/b/application.yaml", Line: 5, Application: "b",
		Message: `spec.application.kind "App" is taken by applications/a/application.yaml`}}
	if err != nil || !slices.Equal(result.Findings, want) {
		t.Errorf("found %v, %v, want %v", result.Findings, err, want)
	}
}

// A hostile document has many fields. It takes one look at each, and no more findings than people read.
func TestUnknownFieldsAreBounded(t *testing.T) {
	var all strings.Builder
	for i := range 60_000 {
		all.WriteString("  f" + strings.Repeat("x", i%9) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576)) + ": 1\n")
	}
	if got := linted(t, kkpDefinition+all.String(), "tier: gold\n"); len(got) != schema.MaxFindings {
		t.Errorf("%d findings, want %d", len(got), schema.MaxFindings)
	}
}

// linted returns "severity rule:line message" of what is found in an application.
func linted(t *testing.T, document, metadata string) []string {
	t.Helper()
	result, err := Run(t.Context(), fstest.MapFS{
		"applications/app/application.yaml": {Data: []byte(document)},
		"applications/app/metadata.yaml":    {Data: []byte(metadata)},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range result.Findings {
		all = append(all, strings.Join([]string{string(f.Severity), f.Rule + ":" + strconv.Itoa(f.Line), f.Message}, " "))
	}
	return all
}
