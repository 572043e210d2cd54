// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/clitest/livetest"
)

// settingsOfArgocd are the settings that the publication replaces in the live definition, and the YAML that keeps them.
const settingsOfArgocd = `  argocd: defaultVersion "3.0.0" -> "3.1.5"; default values differ in
  controller.replicas, dex.secret
To keep these, add to spec of the CatalogSelection (live values, which may be secret):
  patches:
  - patch: |
      - {op: replace, path: /spec/defaultVersion, value: "3.0.0"}
    target:
      kind: ApplicationDefinition
      name: argocd
  values:
  - names:
    - argocd
    overrides:
      controller:
        replicas: 5
      dex:
        secret: hunter2
`

// firstAdoption is the start of the preview of a first publication, and firstStat its lines on applications.
const firstAdoption = `HELD: 1 CatalogSelection

flux-system/applications: a new selection; 2 applications updated, 2 added, 2
adopted (they live already); 2 versions removed, 5 added (6 of 10 applications
selected)
  to   sha256:b09f35dbb038d7a6f6ecea60c589d58520c3b7ae4df3ef4cb2973cdb8e8ba136
  1 live definition is applied by the Kustomization flux-system/old: unless this
  artifact becomes its source, the selection waits (Conflict) until it has let
  go
`

var firstStat = []string{
	"~ argocd: adopted, 0.0.1 -> 3.1.5 major, versions +3 -1, DEFAULT NAMESPACE,",
	"+ external-dns: added, versions +2",
	"loki: Flux leaves it alone",
	"  velero: lives in the cluster, where the platform itself reconciles it",
}

// A selection begins to hold applications: the diff shows the losses of those that are live.
func TestDiffLive(t *testing.T) {
	c := livetest.StartWithWinnow(t)
	c.Define()
	narrow := filepath.Join(t.TempDir(), "narrow.yaml")
	clitest.WriteFile(t, narrow, "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata:\n  name: applications\n"+
		"spec:\n  sources:\n  - name: winnow-example\n  limit:\n    nameSelector: [external-dns]\n")
	diff := []string{"diff", "-f", "../../../../examples/gitops/selection.yaml", "--from-selection", narrow, "--to", "../../../../examples/catalog"}

	offline := clitest.Execute(t.Context(), diff...)
	if offline.Code != root.ExitOK || strings.Contains(offline.Stdout, "HELD") || !strings.Contains(offline.Stdout, "Unknown without --live") {
		t.Errorf("offline: %+v", offline)
	}
	live := clitest.Execute(t.Context(), append(diff, "--live", "--kubeconfig", c.Kubeconfig(), "--fail-on", "held")...)
	if live.Code != root.ExitFindings || strings.Contains(live.Stdout, "Unknown") {
		t.Errorf("exit code %d: %s%s", live.Code, live.Stdout, live.Stderr)
	}
	_, held, _ := strings.Cut(live.Stdout, "\nHELD: nothing of this is published\n")
	held, _, _ = strings.Cut(held, "\n\n")
	want := "  velero: lives in the cluster, where the platform itself reconciles it\n" +
		"  argocd: lives in the cluster with versions that would be removed: 0.0.1; its\n" +
		"  defaultVersion 3.0.0 would become 3.1.5; its default values differ in\n" +
		"  controller.replicas, dex.secret"
	if held != want {
		t.Errorf("held:\n%swant:\n%s", held, want)
	}
	first := clitest.Execute(t.Context(), "diff", "-f", diff[2], "--to", "../../../../examples/catalog", "--live", "--kubeconfig", c.Kubeconfig(), "--stat")
	if adopted, _, _ := strings.Cut(first.Stdout, "\nHELD: "); first.Code != root.ExitOK || adopted != firstAdoption {
		t.Errorf("exit code %d: %s\nwant\n%s", first.Code, adopted+first.Stderr, firstAdoption)
	}
	for _, line := range firstStat {
		if !strings.Contains(first.Stdout, "\n"+line+"\n") {
			t.Errorf("the first adoption lacks %s:\n%s", line, first.Stdout)
		}
	}
	_, replaced, _ := strings.Cut(live.Stdout, "\nreplaced in live definitions:\n")
	replaced, _, _ = strings.Cut(replaced, "\nTo publish it all the same")
	if want := settingsOfArgocd + "\nbypassed in the cluster: loki\n"; replaced != want {
		t.Errorf("the end is:\n%swant:\n%s", replaced, want)
	}
	markdown := clitest.Execute(t.Context(), append(diff, "--live", "--kubeconfig", c.Kubeconfig(), "-o", "markdown")...).Stdout
	if strings.Contains(markdown, "hunter2") || !strings.Contains(markdown, "default values differ in controller.replicas, dex.secret") {
		t.Errorf("a comment has values of the cluster, or no paths: %s", markdown)
	}
}

func TestDiffLiveWithoutACluster(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	broken := filepath.Join(t.TempDir(), "kubeconfig")
	clitest.WriteFile(t, broken, "clusters:\n- name: c\n  cluster: {server: 'http://127.0.0.1:1'}\n"+
		"contexts:\n- name: c\n  context: {cluster: c}\ncurrent-context: c\n")
	diff := []string{"diff", "-f", "../../../../examples/gitops/selection.yaml", "--from", "../../../../examples/catalog", "--to", "../../../../examples/catalog"}
	for name, flags := range map[string][]string{
		"reading the kubeconfig":   {"--live", "--kubeconfig", "/nowhere"},
		"looking at the cluster":   {"--live", "--kubeconfig", broken},
		"does not exist":           {"--live", "--kubeconfig", broken, "--context", "other"},
		"--context are for --live": {"--context", "c"},
	} {
		got := clitest.Execute(t.Context(), append(diff, flags...)...)
		if got.Code != root.ExitFailed || got.Stdout != "" || !strings.Contains(got.Stderr, name) {
			t.Errorf("%v: exit code %d: %s%s", flags, got.Code, got.Stdout, got.Stderr)
		}
	}
}
