// SPDX-License-Identifier: Apache-2.0

package receipts_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/receipts"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/livetest"
)

// A receipt has the Kustomizations of rendered artifacts, and the definitions with the label, of all namespaces.
func TestReceipt(t *testing.T) {
	c := livetest.StartWithWinnow(t)
	const kustomization = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {namespace: receipts, name: %s}
spec: {interval: 1h, prune: true, sourceRef: {kind: OCIRepository, name: %s}}
status:
  lastAppliedRevision: %s
  conditions: [{type: Ready, status: "%s", reason: R, message: m, observedGeneration: %d, lastTransitionTime: "2026-08-01T12:00:00Z"}]
`
	const repository = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {namespace: receipts, name: %s}
spec: {interval: 1h, url: oci://registry.example.com/%[1]s}
status: {artifact: {digest: sha256:%[2]s, lastUpdateTime: "2026-08-01T12:00:00Z", path: p, revision: latest@sha256:%[2]s, url: http://x, metadata: %[3]s}}
`
	digest := strings.Repeat("a", 64)
	c.ApplyAll(strings.Join([]string{
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: receipts}\n",
		fmt.Sprintf(repository, "rendered", digest, "{catalog.winnow.dev/selection: fleet/datacenter}"), fmt.Sprintf(repository, "other", digest, "{a: b}"),
		fmt.Sprintf(kustomization, "a-tag", "rendered", "latest@sha256:"+digest, "True", 1),
		fmt.Sprintf(kustomization, "b-digest", "rendered", "sha256:"+digest, "False", 1),
		fmt.Sprintf(kustomization, "d-not-pulled", "missing", `""`, "False", 1),
		fmt.Sprintf(kustomization, "e-other", "other", "sha256:"+digest, "True", 1),
	}, "---\n"))
	got := clitest.Execute(t.Context(), "receipt", "berlin", "-o", "yaml", "--kubeconfig", c.Kubeconfig())
	of := func(name, source, digest, ready string) string {
		if digest != "" {
			digest = "- digest: sha256:" + digest + "\n  message"
		}
		if digest == "" {
			digest = "- message"
		}
		return digest + ": m\n  name: " + name + "\n  namespace: receipts\n  ready: \"" + ready + "\"\n  reason: R\n  source: receipts/" + source + "\n"
	}
	_, listed, _ := strings.Cut(got.Stdout, "kustomizations:\n")
	want := of("a-tag", "rendered", digest, "True") + of("b-digest", "rendered", digest, "False") + of("d-not-pulled", "missing", "", "False")
	if got.Code != root.ExitOK || !strings.HasPrefix(listed, want) {
		t.Errorf("exit code %d: %s%s\nwant\n%s", got.Code, got.Stdout, got.Stderr, want)
	}
	if err := c.ApplyPath(t.Context(), "test/stack/crds"); err != nil {
		t.Fatal(err)
	}
	c.ApplyAll(`apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {namespace: receipts, name: f-inventory}
spec: {interval: 1h, prune: true, namePrefix: x-, patches: [{patch: "{}", target: {kind: Secret}}], sourceRef: {kind: OCIRepository, name: rendered}}
status: {inventory: {entries: [{id: _receipt-a_apps.kubermatic.k8c.io_ApplicationDefinition, v: v1}]}}
---
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: receipt-a, labels: {apps.k8c.io/application-bypass: "true"}}
spec: {description: a, method: helm, versions: [{version: 1.0.0, template: {source: {helm: {url: "https://charts.example.com", chartName: a, chartVersion: 1.0.0}}}}]}
---
apiVersion: apps.kubermatic.k8c.io/v1
kind: ApplicationDefinition
metadata: {name: receipt-b, labels: {apps.k8c.io/application-bypass: "true"}}
spec: {description: b, method: helm, versions: [{version: 1.0.0, template: {source: {helm: {url: "https://charts.example.com", chartName: b, chartVersion: 1.0.0}}}}]}
`)
	var document receipt.Receipt
	if err := json.Unmarshal([]byte(clitest.Execute(t.Context(), "receipt", "berlin", "-o", "json", "--kubeconfig", c.Kubeconfig()).Stdout), &document); err != nil {
		t.Fatal(err)
	}
	k := document.Kustomizations[len(document.Kustomizations)-1]
	if fmt.Sprint(k.Objects, k.Changes) != "[_receipt-a_apps.kubermatic.k8c.io_ApplicationDefinition] [namePrefix patches]" {
		t.Errorf("%+v", k)
	}
	applied := map[string]receipt.Definition{}
	for _, d := range document.Definitions {
		applied[d.Name] = d
	}
	d, others := applied["receipt-a"], applied["receipt-b"] // the second one has neither the label of Winnow nor an inventory
	if !d.Bypassed || d.BypassedSince == nil || time.Since(*d.BypassedSince).Abs() > time.Hour || others.Name != "" {
		t.Errorf("%+v, %+v", d, others)
	}
	testUses(c)
	testTime(c)
	for _, test := range []struct{ args, want string }{
		{"receipt Berlin", `"Berlin" is no name of a cluster`},
		{"receipt berlin oci://registry.example.com/receipts", "--sign-key is missing"},
		{"receipt berlin oci://registry.example.com/receipts --sign-key " + c.Kubeconfig(), "want a private key in PEM"},
	} {
		if got := clitest.Execute(t.Context(), append(strings.Fields(test.args), "--kubeconfig", c.Kubeconfig())...); got.Code != root.ExitFailed || !strings.Contains(got.Stderr, test.want) {
			t.Errorf("%s: %+v", test.args, got)
		}
	}
}

// testTime: a receipt has the time of the clock.
func testTime(c *livetest.Cluster) {
	var stdout strings.Builder
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	cmd := receipts.New(func() time.Time { return at })
	cmd.SetArgs([]string{"berlin", "-o", "json", "--kubeconfig", c.Kubeconfig()})
	cmd.SetOut(&stdout)
	var document receipt.Receipt
	if err := cmd.ExecuteContext(c.T.Context()); err != nil {
		c.T.Fatal(err)
	}
	if err := json.Unmarshal([]byte(stdout.String()), &document); err != nil || !document.Time.Equal(at) {
		c.T.Errorf("%v: the time is %s", err, document.Time)
	}
}

// testUses: the API server answers with the metadata of releases alone. A seed does not know the installations in its user clusters.
func testUses(c *livetest.Cluster) {
	t := c.T
	crd := filepath.Join(t.TempDir(), "crd.yaml")
	clitest.WriteFile(t, crd, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: terraforms.infra.contrib.fluxcd.io}
spec:
  group: infra.contrib.fluxcd.io
  names: {kind: Terraform, listKind: TerraformList, plural: terraforms, singular: terraform}
  scope: Namespaced
  versions: [{name: v1alpha2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
	if err := c.ApplyPath(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	c.ApplyAll(`apiVersion: infra.contrib.fluxcd.io/v1alpha2
kind: Terraform
metadata: {namespace: receipts, name: vpc, annotations: {catalog.winnow.dev/application: vpc, catalog.winnow.dev/version: 1.0.0}}
spec: {a: b}
---
apiVersion: infra.contrib.fluxcd.io/v1alpha2
kind: Terraform
metadata: {namespace: receipts, name: other}
`)
	got := clitest.Execute(t.Context(), "receipt", "berlin", "--names", "-o", "json", "--kubeconfig", c.Kubeconfig())
	var document receipt.Receipt
	if err := json.Unmarshal([]byte(got.Stdout), &document); err != nil {
		t.Fatal(err, got.Stderr)
	}
	want := []receipt.Uses{
		{Kind: "HelmRelease"}, {Kind: "Terraform", Applications: []receipt.Use{{Application: "vpc", Version: "1.0.0", Installations: 1, Objects: []string{"receipts/vpc"}}}},
		{Kind: "ApplicationInstallation", Unknown: receipt.InUserClusters}, {Kind: "ClusterExtension"}, {Kind: "Subscription"},
	}
	if !reflect.DeepEqual(document.Uses, want) {
		t.Errorf("%+v, want %+v", document.Uses, want)
	}
}
