// SPDX-License-Identifier: Apache-2.0

package kubermatic

import (
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// selected returns what the CatalogSelection of a configuration has, with the notes.
func selected(t *testing.T, configuration, release, source string) (v1alpha1.CatalogSelectionSpec, []string, error) {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(configuration), &object); err != nil {
		t.Fatal(err)
	}
	var version *semver.Version
	if release != "" {
		version = semver.MustParse(release)
	}
	content, notes, err := Convert(t.Context(), object, version, source)
	if err != nil {
		return v1alpha1.CatalogSelectionSpec{}, nil, err
	}
	var cs v1alpha1.CatalogSelection
	if err := yaml.Unmarshal([]byte(strings.Split(string(content), "\n---\n")[1]), &cs); err != nil {
		t.Fatal(err)
	}
	return cs.Spec, notes, nil
}

// everything has each field that names applications in one of the releases.
const everything = `
spec:
  applications:
    catalogManager:
      registrySettings: {registryURL: registry.example.com/catalog, tag: v1}
      limit: {nameSelector: [of-limit], metadataSelector: {tiers: [gold]}}
      apps: [ingress-nginx]
    defaultApplicationCatalog: {enable: true, applications: [of-default], helmRepository: mirror.example.com/charts}
`

const on = "  featureGates: {ExternalApplicationCatalogManager: true}\n"

func TestWhatCountsDependsOnTheGateAndTheRelease(t *testing.T) {
	for _, tt := range []struct {
		name, configuration, release string
		names                        []string
		tiers, mirrors               int
		left                         []string
	}{
		{name: "without the gate, the built-in catalog counts", configuration: everything, names: []string{"of-default"}, mirrors: 1,
			left: []string{"catalogManager.apps", "catalogManager.limit", "catalogManager.registrySettings"}},
		{name: "with the gate off, the built-in catalog counts", configuration: everything + strings.Replace(on, "true", "false", 1),
			release: "2.30", names: []string{"of-default"}, mirrors: 1,
			left: []string{"catalogManager.apps", "catalogManager.limit", "catalogManager.registrySettings"}},
		{name: "before the gate, the built-in catalog counts", configuration: everything + on, release: "2.28.5", names: []string{"of-default"}, mirrors: 1,
			left: []string{"catalogManager.apps", "catalogManager.limit", "catalogManager.registrySettings"}},
		{name: "in 2.29, the limit counts", configuration: everything + on, release: "v2.29.10", names: []string{"of-limit"}, tiers: 1, mirrors: 1,
			left: []string{"catalogManager.apps", "defaultApplicationCatalog.applications"}},
		{name: "in 2.30, the charts count", configuration: everything + on, release: "2.30", names: []string{"nginx"},
			left: []string{"catalogManager.limit", "catalogManager.registrySettings", "defaultApplicationCatalog.applications", "defaultApplicationCatalog.helmRepository"}},
		{name: "in a release candidate of 2.30, the charts count", configuration: everything + on, release: "v2.30.0-rc.1", names: []string{"nginx"},
			left: []string{"catalogManager.limit", "catalogManager.registrySettings", "defaultApplicationCatalog.applications", "defaultApplicationCatalog.helmRepository"}},
		{name: "the object tells its release", configuration: everything + on + "status: {kubermaticVersion: v2.29.3}\n", names: []string{"of-limit"}, tiers: 1, mirrors: 1,
			left: []string{"catalogManager.apps", "defaultApplicationCatalog.applications"}},
		{name: "the flag goes before the status", configuration: everything + on + "status: {kubermaticVersion: v2.29.3}\n", release: "2.31", names: []string{"nginx"},
			left: []string{"catalogManager.limit", "catalogManager.registrySettings", "defaultApplicationCatalog.applications", "defaultApplicationCatalog.helmRepository"}},
		{name: "only 2.30 and later have apps", configuration: "spec:\n  applications: {catalogManager: {apps: [falco]}}\n" + on, names: []string{"falco"}},
		{name: "charts become definitions", release: "2.31", names: []string{"argocd", "nginx", "nvidia-gpu-operator", "kubernetes-mcp-server", "envoy-gateway", "trivy"},
			configuration: "spec:\n  applications: {catalogManager: {apps: [argo-cd, 'ingress-nginx, nvidia/gpu-operator', mcp-server-kubernetes, gateway-helm, trivy, argo-cd]}}\n" + on},
		{name: "no charts are all of them", release: "2.30", configuration: "spec:\n" + on},
		{name: "what KKP writes as empty is no note", release: "2.30",
			configuration: "spec:\n  applications: {catalogManager: {limit: {metadataSelector: {}}, registrySettings: {}}, defaultApplicationCatalog: {}}\n" + on},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec, notes, err := selected(t, tt.configuration, tt.release, "oci://registry.example.com/catalog:v1")
			if err != nil {
				t.Fatal(err)
			}
			var limit v1alpha1.Limit
			if spec.Limit != nil {
				limit = *spec.Limit
			}
			if !slices.Equal(limit.NameSelector, tt.names) {
				t.Errorf("names %v, want %v", limit.NameSelector, tt.names)
			}
			if got := limit.MetadataSelector; tt.tiers > 0 != (got != nil && len(got.TierRefs) > 0) {
				t.Errorf("metadata selector %v, want tiers %d", got, tt.tiers)
			}
			if len(spec.Mirrors) != tt.mirrors {
				t.Errorf("mirrors %v, want %d", spec.Mirrors, tt.mirrors)
			}
			var left []string
			for _, note := range notes {
				if field, _, ok := strings.Cut(note, " is left out: "); ok {
					left = append(left, strings.TrimPrefix(field, "spec.applications."))
				}
			}
			if !slices.Equal(left, tt.left) {
				t.Errorf("left out %v, want %v", left, tt.left)
			}
		})
	}
}

func TestWhatCannotBeDecidedIsAskedFor(t *testing.T) {
	for _, tt := range []struct{ name, configuration, release, source, want string }{
		{name: "no release", configuration: everything[:strings.Index(everything, "      apps")] + on, want: "pass --kkp-version"},
		{name: "a build without a release", configuration: "spec:\n" + on + "status: {kubermaticVersion: 2974df5bdca4}\n", want: "pass --kkp-version"},
		{name: "a registry that 2.30 does not read", configuration: everything + on, release: "2.30", want: "pass --source"},
		{name: "the registry of a manager that is off", configuration: everything, want: "pass --source"},
		{name: "a gate that is off beside a manager", configuration: "spec: {applications: {catalogManager: {apps: [falco]}}}", want: "it names no catalog"},
		{name: "the definition of a chart", configuration: "spec:\n  applications: {catalogManager: {apps: [argocd]}}\n" + on, source: "oci://a.example.com/b", want: `did you mean "argo-cd"?`},
		{name: "a misspelt chart", configuration: "spec:\n  applications: {catalogManager: {apps: [metalb]}}\n" + on, source: "oci://a.example.com/b", want: `did you mean "metallb"?`},
		{name: "a chart of a later release", configuration: "spec:\n  applications: {catalogManager: {apps: [openbao]}}\n" + on, source: "oci://a.example.com/b", want: "add the name of its definition"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := selected(t, tt.configuration, tt.release, tt.source); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
