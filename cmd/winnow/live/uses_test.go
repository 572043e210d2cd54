// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
)

// serve returns a cluster that serves the resources, each group/version/resource/Kind with its objects. It forbids to list those that
// begin with "!".
func serve(t *testing.T, resources map[string][]string) *Cluster {
	t.Helper()
	mux := http.NewServeMux()
	served := map[string][]string{}
	for resource, objects := range resources {
		resource, forbidden := strings.CutPrefix(resource, "!")
		parts := strings.Split(resource, "/")
		version := "/apis/" + parts[0] + "/" + parts[1]
		served[version] = append(served[version], fmt.Sprintf(`{"name": %q, "kind": %q, "verbs": ["list"]}`, parts[2], parts[3]))
		mux.HandleFunc("/apis/"+strings.Join(parts[:3], "/"), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if forbidden {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}`)
				return
			}
			if isMetadata := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList"); isMetadata != (parts[3] == "HelmRelease" || parts[3] == "Terraform") {
				t.Errorf("%s: Accept: %s", parts[3], r.Header.Get("Accept"))
			}
			fmt.Fprintf(w, `{"kind": "%sList", "apiVersion": "%s/%s", "metadata": {}, "items": [%s]}`, parts[3], parts[0], parts[1], strings.Join(objects, ","))
		})
	}
	for version, kinds := range served {
		mux.HandleFunc(version, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"kind": "APIResourceList", "resources": [%s]}`, strings.Join(kinds, ","))
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := `{"clusters": [{"name": "a", "cluster": {"server": "` + server.URL + `"}}], "contexts": [{"name": "a", "context": {"cluster": "a"}}], "current-context": "a"}`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster, err := Open(file, "")
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// Installations are counted by the kind of their objects, each once. What must not be listed, and what lives elsewhere, is unknown.
func TestUses(t *testing.T) {
	const (
		releases      = "helm.toolkit.fluxcd.io/v2/helmreleases/HelmRelease"
		installations = "apps.kubermatic.k8c.io/v1/applicationinstallations/ApplicationInstallation"
		ofKKP         = "apps.kubermatic.k8c.io/v1/applicationdefinitions/ApplicationDefinition"
		ofCozystack   = "cozystack.io/v1alpha1/applicationdefinitions/ApplicationDefinition"
		extensions    = "olm.operatorframework.io/v1/clusterextensions/ClusterExtension"
		subscriptions = "operators.coreos.com/v1alpha1/subscriptions/Subscription"
		selections    = "catalog.winnow.dev/v1alpha1/catalogselections/CatalogSelection"
	)
	meta := func(name, rest string) string {
		return `{"metadata": {"namespace": "tenant", "name": "` + name + `"` + rest + `}`
	}
	argocd := func(name, version string) string {
		return meta(name, "") + `, "spec": {"applicationRef": {"name": "argocd", "version": "` + version + `"}}}`
	}
	instance := meta("argocd", `, "annotations": {"catalog.winnow.dev/application": "argocd", "catalog.winnow.dev/version": "2.13.0"}`) + "}"
	cozy := func(name, kind string) string {
		return meta(name, `, "labels": {"apps.cozystack.io/application.kind": "`+kind+`"}`) + "}"
	}
	status := meta("s", "") + `, "status": {"instances": [
		{"application": "argocd", "version": "2.13.0", "backend": "Helm", "object": "HelmRelease tenant/argocd"},
		{"application": "postgres", "backend": "Application", "object": "Postgres tenant/db"},
		{"application": "vpc", "backend": "Terraform", "object": "Terraform tenant/vpc"}]}}`
	for name, test := range map[string]struct {
		resources map[string][]string
		want      string
	}{
		"a cluster without any of the kinds": {nil, ""},
		"a user cluster": {map[string][]string{installations: {argocd("a", "2.13.0"), argocd("b", "2.13.0"), argocd("c", "3.0.0"), meta("broken", "") + "}"}},
			"ApplicationInstallation argocd 2.13.0: 2, ApplicationInstallation argocd 3.0.0: 1"},
		"a seed":                               {map[string][]string{ofKKP: nil}, "ApplicationInstallation InUserClusters"},
		"a user cluster that may not be asked": {map[string][]string{"!" + installations: {argocd("a", "2.13.0")}}, "ApplicationInstallation Forbidden"},
		"instances, and releases of others":    {map[string][]string{releases: {instance, meta("other", "") + "}"}, selections: {status}}, "HelmRelease argocd 2.13.0: 1"},
		"Cozystack: the definition of a kind": {map[string][]string{
			ofCozystack: {`{"metadata": {"name": "postgres"}, "spec": {"application": {"kind": "Postgres"}}}`, `{"metadata": {"name": "odd"}, "spec": {}}`},
			releases:    {cozy("postgres-a", "Postgres"), cozy("postgres-b", "Postgres"), cozy("redis-a", "Redis"), meta("other", "") + "}"},
		}, "HelmRelease postgres: 2"},
		"instances by the status, where releases must not be listed": {map[string][]string{"!" + releases: {instance}, selections: {status}},
			"HelmRelease Forbidden, HelmRelease argocd 2.13.0: 1, HelmRelease postgres: 1"},
		"a selection that pushes has instances elsewhere": {map[string][]string{"!" + releases: {instance},
			selections: {strings.Replace(status, `"status"`, `"spec": {"push": {"url": "oci://x/y"}}, "status"`, 1)}}, "HelmRelease Forbidden"},
		"neither may be listed": {map[string][]string{"!" + releases: {instance}, "!" + selections: {status}}, "HelmRelease Forbidden"},
		"packages of OLM": {map[string][]string{
			extensions: {`{"metadata": {"name": "a"}, "spec": {"source": {"catalog": {"packageName": "cert-manager"}}}, "status": {"install": {"bundle": {"name": "cert-manager.v1.17.0"}}}}`,
				`{"metadata": {"name": "b"}, "spec": {"source": {"catalog": {"packageName": "cert-manager"}}}}`},
			subscriptions: {meta("c", "") + `, "spec": {"name": "cert-manager"}, "status": {"installedCSV": "cert-manager.v1.17.0"}}`},
		}, "ClusterExtension cert-manager: 1, ClusterExtension cert-manager cert-manager.v1.17.0: 1, Subscription cert-manager cert-manager.v1.17.0: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := serve(t, test.resources).Uses(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, kind := range all {
				if kind.Unknown != "" {
					got = append(got, kind.Kind+" "+kind.Unknown)
				}
				for _, use := range kind.Applications {
					got = append(got, fmt.Sprintf("%s: %d", strings.TrimSpace(kind.Kind+" "+use.Application+" "+use.Version), use.Installations))
				}
			}
			if strings.Join(got, ", ") != test.want || len(all) != len(installers) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), test.want)
			}
		})
	}
	for names, want := range map[bool]string{false: `{"application":"argocd","version":"2.13.0","installations":1}`, true: `{"application":"argocd","version":"2.13.0","installations":1,"objects":["tenant/a"]}`} {
		all, err := serve(t, map[string][]string{installations: {argocd("a", "2.13.0")}}).Uses(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(receipt.New("berlin", time.Time{}, nil, nil, all).Uses[2].Applications[0]); string(got) != want {
			t.Errorf("names %v: %s, want %s", names, got, want)
		}
	}
}
