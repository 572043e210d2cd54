// SPDX-License-Identifier: Apache-2.0

package get_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/livetest"
	"github.com/winnow-dev/winnow/test/stack"
)

const liveSelections = `apiVersion: v1
kind: Namespace
metadata: {name: flux-system}
---
apiVersion: v1
kind: Namespace
metadata: {name: other}
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: applications, namespace: flux-system}
spec:
  sources: [{name: winnow-example}]
status:
  observedGeneration: 1
  sourceRevision: v1.0.0
  sources: [{kind: OCIRepository, name: winnow-example, namespace: flux-system, revision: "v1.0.0@sha256:01", digest: "sha256:02"}]
  summary: {available: 10, selected: 6, excluded: 4, shadowed: 0}
  artifact: {revision: "latest@sha256:9fd0ca523bbd", digest: "sha256:03", path: x, url: "http://x", lastUpdateTime: "2026-01-01T00:00:00Z"}
  conditions:
  - {type: Ready, status: "True", reason: Succeeded, message: "published 6 of 10 applications, revision sha256:9fd0ca523bbd; a change is held", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Held, status: "True", reason: Removal, message: "loki: would be removed, because no source has it", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Applied, status: "True", reason: Succeeded, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: SourceReady, status: "True", reason: Succeeded, message: "all sources are ready", lastTransitionTime: "2026-01-01T00:00:00Z"}
  held:
    revision: v2.0.0@sha256:5b7c1f0e8d2a4936b0c4e7f1a2d3958647c8b9e0f1a2b3c4d5e6f708192a3b4c
    approve: ["sha256:5b7c1f0e8d2a4936b0c4e7f1a2d3958647c8b9e0f1a2b3c4d5e6f708192a3b4c"]
    total: 2
    reasons:
    - {reason: Removal, application: loki, message: "would be removed, because no source has it"}
    - {reason: VersionRemoval, application: argocd, versions: [2.13.0], message: "versions would be removed: 2.13.0"}
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata:
  name: fresh
  namespace: flux-system
  labels: {kustomize.toolkit.fluxcd.io/name: clusters, kustomize.toolkit.fluxcd.io/namespace: flux-system}
spec:
  suspend: true
  sources: [{name: winnow-example}]
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: down, namespace: other, labels: {tier: edge}}
spec:
  sources: [{name: winnow-example}]
status:
  observedGeneration: 1
  sourceRevision: v1.0.0
  conditions:
  - {type: Ready, status: "True", reason: Succeeded, message: "published 6 of 10 applications, revision latest@sha256:9fd0ca523bbd; a source fails, see SourceReady", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: SourceReady, status: "False", reason: FetchFailed, message: "OCIRepository other/winnow-example: no such host", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Held, status: "False", reason: NothingHeld, message: "no change is held", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Applied, status: "False", reason: ApplyFailed, message: "Kustomization other/down: dry-run failed", lastTransitionTime: "2026-01-01T00:00:00Z"}
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: pushed, namespace: other}
spec:
  sources: [{name: winnow-example}]
  push: {url: "oci://registry.example.com/rendered/kkp", tags: [latest]}
status:
  observedGeneration: 1
  conditions:
  - {type: Ready, status: "False", reason: InvalidCatalog, message: "source other/winnow-example: \u001b[31mred", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Held, status: "False", reason: NothingHeld, message: "no change is held", lastTransitionTime: "2026-01-01T00:00:00Z"}
`

// getOne is the selection that nothing is pushed of and that is not suspended.
const getOne = `NAME          READY  SOURCES  HELD  APPLIED  CATALOG  MESSAGE
applications  True   True     HELD  True     v1.0.0   Removal: loki: would be removed, because no source has it
`

const getNamespace = `NAME          READY  SOURCES  HELD  APPLIED  SUSPENDED  CATALOG  MESSAGE
applications  True   True     HELD  True     False      v1.0.0   Removal: loki: would be removed, because no source has it
fresh         -      -        -     -        True       -        suspended before it was reconciled
`

const getEverywhere = `NAMESPACE    NAME          READY  SOURCES  HELD   APPLIED  PUSHED  SUSPENDED  CATALOG  MESSAGE
other        down          True   FAIL     False  FAIL     -       False      v1.0.0   FetchFailed: OCIRepository other/winnow-example: no such host; ApplyFailed: Kustomization other/down: dry-run failed
other        pushed        FAIL   -        False  -        -       False      -        InvalidCatalog: source other/winnow-example: [31mred
flux-system  applications  True   True     HELD   True     -       False      v1.0.0   Removal: loki: would be removed, because no source has it
flux-system  fresh         -      -        -      -        -       True       -        suspended before it was reconciled
`

// TestGet shares one API server: each subtest has selections of its own.
func TestGet(t *testing.T) {
	c := livetest.Start(t, stack.Options{})
	c.Run("without Winnow", testWithoutWinnow)
	c.Install()
	c.ApplyAll(liveSelections)
	c.Run("get", testGet) // it sees the selections of all
	c.Run("completion", testCompletion)
	c.Run("forbidden", testForbidden)
	c.Run("watch", testWatch)
}

func testGet(c *livetest.Cluster) {
	c.Expect(root.ExitOK, getNamespace, "", "get", "-n", "flux-system")
	c.Expect(root.ExitOK, getEverywhere, "", "get", "-A")
	c.Expect(root.ExitOK, getOne, "", "get", "applications", "-n", "flux-system")
	c.Expect(root.ExitOK, "catalogselection.catalog.winnow.dev/applications\ncatalogselection.catalog.winnow.dev/fresh\n", "",
		"get", "-n", "flux-system", "-o", "name")
	c.Expect(root.ExitOK, "", "no CatalogSelections found in namespace default; other namespaces have 4\n", "get")
	c.Expect(root.ExitOK, getNamespace, "", "get", "catalogselections", "-n", "flux-system")
	c.Expect(root.ExitOK, getOne, "", "get", "catsel", "applications", "-n", "flux-system")
	c.Expect(root.ExitFindings, "", "CatalogSelection nothing not found in namespace other", "get", "nothing", "-n", "other")
	c.Expect(root.ExitFindings, "", "CatalogSelection applications not found in namespace default: it is in flux-system: pass -n flux-system", "approve", "applications")
	c.Expect(root.ExitFindings, "", "not found in namespace flux-system: did you mean applications?", "get", "aplications", "-n", "flux-system")
	c.Expect(root.ExitFindings, getOne, "nothing not found", "get", "nothing", "applications", "-n", "flux-system")
	c.Expect(root.ExitFailed, "", "not both", "get", "applications", "-A")
	c.Expect(root.ExitFailed, "", "--timeout 0s", "get", "--timeout", "0s")
	c.Expect(root.ExitOK, strings.SplitAfterN(getOne, "\n", 2)[1], "", "get", "applications", "-n", "flux-system", "--no-headers")
	c.Expect(root.ExitOK, "catalogselection.catalog.winnow.dev/down\n", "", "get", "-A", "-l", "tier=edge", "-o", "name")
	c.Expect(root.ExitOK, "", "no CatalogSelections found with tier=none\n", "get", "-A", "-l", "tier=none")
	c.Expect(root.ExitFailed, "", "--selector a=b=c: ", "get", "-l", "a=b=c")
	c.Expect(root.ExitFailed, "", "not both", "get", "applications", "-l", "a=b")
	c.Expect(root.ExitFailed, "", "--watch prints tables", "get", "-w", "-o", "json")
	testGetObjects(c)
	wide := c.On("get", "-A", "-o", "wide").Stdout
	for _, want := range []string{"SELECTED  REVISION", " 6  ", "latest@sha256:9fd0ca523bbd", "because no source has it\n", "suspended before it was reconciled\n", "InvalidCatalog: source other/winnow-example: [31mred"} {
		if !strings.Contains(wide, want) {
			c.T.Errorf("no %q in\n%s", want, wide)
		}
	}
}

func testGetObjects(c *livetest.Cluster) {
	c.T.Helper()
	var list struct {
		APIVersion, Kind string
		Items            []map[string]any
	}
	got := c.On("get", "-A", "-o", "json")
	if err := json.Unmarshal([]byte(got.Stdout), &list); err != nil || list.APIVersion != "v1" || list.Kind != "List" || len(list.Items) != 4 {
		c.T.Errorf("%v: %s%s", err, got.Stdout, got.Stderr)
	}
	if got := c.On("get", "-n", "default", "-o", "json"); got.Code != root.ExitOK || !strings.Contains(got.Stdout, `"items": []`) || got.Stderr != "" {
		c.T.Errorf("an empty list: %+v", got)
	}
	var one map[string]any
	got = c.On("get", "applications", "-n", "flux-system", "-o", "yaml")
	if err := yaml.Unmarshal([]byte(got.Stdout), &one); err != nil || one["kind"] != "CatalogSelection" || one["status"] == nil {
		c.T.Errorf("%v: %s%s", err, got.Stdout, got.Stderr)
	}
	if strings.Contains(got.Stdout, "managedFields") {
		c.T.Errorf("it has managed fields: %s", got.Stdout)
	}
}

func testWithoutWinnow(c *livetest.Cluster) {
	for _, args := range [][]string{{"get"}, {"get", "a"}, {"reconcile", "a"}, {"suspend", "a"}, {"resume", "a"}, {"approve", "a"}} {
		c.Expect(root.ExitFailed, "", "Winnow is not installed in this cluster", args...)
	}
}

// testForbidden uses an account without rights.
func testForbidden(c *livetest.Cluster) {
	config := c.RESTConfig()
	kubeconfig := clitest.Kubeconfig(c.T, config.Host)
	content := strings.Replace(clitest.ReadFile(c.T, kubeconfig), "{server:", "{insecure-skip-tls-verify: true, server:", 1)
	clitest.WriteFile(c.T, kubeconfig, content)
	got := clitest.Execute(c.T.Context(), "get", "--kubeconfig", kubeconfig)
	if got.Code != root.ExitFailed || got.Stdout != "" || !strings.Contains(got.Stderr, "winnow: reading the CatalogSelections: ") {
		c.T.Errorf("%+v", got)
	}
}

func TestGetWithoutACluster(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	mute := clitest.Kubeconfig(t, "http://"+listener.Addr().String())
	for want, args := range map[string][]string{
		"no cluster is configured":               {"get"},
		"reading the kubeconfig":                 {"get", "--kubeconfig", "/nowhere"},
		"connection refused":                     {"get", "--kubeconfig", clitest.Kubeconfig(t, "http://127.0.0.1:1")},
		"does not exist":                         {"get", "--kubeconfig", mute, "--context", "other"},
		"the cluster did not answer within 50ms": {"get", "--kubeconfig", mute, "--timeout", "50ms"},
	} {
		if got := clitest.Execute(t.Context(), args...); got.Code != root.ExitFailed || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
			t.Errorf("%v: exit code %d, %s%s, want %q", args, got.Code, got.Stdout, got.Stderr, want)
		}
	}
}

// client-go logs what it returns as an error as well; winnow prints the error alone.
func TestAnErrorOfAClusterIsPrintedOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("{"))
		_ = http.NewResponseController(w).Flush()
		<-req.Context().Done()
	}))
	defer server.Close()
	logged, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer logged.Close()
	stderr := os.Stderr
	os.Stderr = logged
	got := clitest.Execute(t.Context(), "get", "--kubeconfig", clitest.Kubeconfig(t, server.URL), "--timeout", "100ms")
	os.Stderr = stderr
	if text := clitest.ReadFile(t, logged.Name()); text != "" || !strings.HasPrefix(got.Stderr, "winnow: the cluster did not answer within 100ms: ") {
		t.Errorf("logged %q, printed %q", text, got.Stderr)
	}
}
