// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/diff"
)

// gitOps is a GitOps repository on disk.
type gitOps struct {
	*scenario
	dir string
}

const gitOpsFiles = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: review, namespace: review}
spec:
  interval: 1h
  insecure: true
  url: oci://%s/review
  ref: {tag: %s}
  layerSelector: {mediaType: application/vnd.oci.image.layer.v1.tar+gzip, operation: extract}
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: review, namespace: review}
spec:
  interval: 1h
  deletionPolicy: Delete
  sources: [{name: review}]
  safeguards:
    approve: [%s]
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: review, namespace: review}
spec:
  interval: 1h
  prune: true
  sourceRef: {kind: ExternalArtifact, name: review}
`

// commit writes the files and commits them.
func (g gitOps) commit(tag string, approve ...string) {
	g.t.Helper()
	content := fmt.Sprintf(gitOpsFiles, system.RegistryHost(), tag, strings.Join(approve, ", "))
	write(g.t, filepath.Join(g.dir, "cluster", "applications.yaml"), content)
	g.run("git", "add", ".")
	g.run("git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.com", "commit", "-q", "-m", tag)
}

// apply applies the committed files to the cluster, as Flux would.
func (g gitOps) apply() {
	g.t.Helper()
	if err := system.ApplyPath(g.t.Context(), filepath.Join(g.dir, "cluster")); err != nil {
		g.t.Fatal(err)
	}
}

func (g gitOps) run(name string, args ...string) string {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), name, args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+g.dir)
	out, err := cmd.Output()
	if err != nil {
		g.t.Fatalf("%s %v: %v", name, args, err)
	}
	return string(out)
}

// TestAPullRequestSaysWhatTheClusterGets runs an upgrade by pull request: it checks the comment for the
// reviewer, the held change, and the end state of the cluster.
func TestAPullRequestSaysWhatTheClusterGets(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	g := newGitOps(t)
	g.commit("v1")
	g.apply()
	before := g.awaitApplied("review-a", "review-b", "review-c")

	g.commit("v2")
	g.assertGolden(g.run(system.winnow, "diff", "--git", "HEAD~1..HEAD", "--plain-http", "-o", "markdown"))
	var report diff.Report
	if err := json.Unmarshal([]byte(g.run(system.winnow, "diff", "--git", "HEAD~1..HEAD", "--plain-http", "-o", "json")), &report); err != nil {
		t.Fatal(err)
	}
	said := report.Selections[0]

	g.apply()
	cs := g.awaitSelection("held", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Held == nil {
			return fmt.Errorf("not held")
		}
		return nil
	})
	var live, foretold []string
	for _, r := range cs.Status.Held.Reasons {
		live = append(live, fmt.Sprint(r.Reason, r.Application, r.Versions, r.Message))
	}
	for _, r := range said.Held.Reasons {
		foretold = append(foretold, fmt.Sprint(r.Reason, r.Application, r.Versions, r.Message))
	}
	if !slices.Equal(live, foretold) || !slices.Equal(cs.Status.Held.Approve, said.Held.Approve) {
		t.Errorf("held is\n%v %v\nthe pull request says\n%v %v", live, cs.Status.Held.Approve, foretold, said.Held.Approve)
	}

	g.commit("v2", said.Held.Approve...)
	g.apply()
	want := versionsAfter(before, said.Applications)
	after := g.awaitApplied(slices.Sorted(maps.Keys(want))...)
	for name, versions := range want {
		if got := liveVersions(after[name]); !slices.Equal(got, versions) {
			t.Errorf("%s has %v, the pull request says %v", name, got, versions)
		}
	}
}

func newGitOps(t *testing.T) gitOps {
	t.Helper()
	key := metav1.ObjectMeta{Name: "review", Namespace: "review"}
	s := &scenario{t: t, name: "review", selection: &v1alpha1.CatalogSelection{ObjectMeta: key}}
	apps := catalogOf("review")
	s.push("v1", apps)
	apps[0].versions, apps[0].values = []string{"1.1.0", "2.0.0"}, "second"
	apps[1] = app{name: "review-d", tier: "gold", versions: []string{"4.0.0"}, values: "d"}
	s.push("v2", apps)
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "review"}})
	t.Cleanup(func() {
		s.remove(&kustomizev1.Kustomization{ObjectMeta: key}, s.selection.DeepCopy(), s.repository())
	})
	g := gitOps{scenario: s, dir: t.TempDir()}
	g.run("git", "init", "-q", "-b", "main")
	return g
}

// assertGolden compares with testdata/pullrequest.md; WINNOW_UPDATE=1 writes it.
func (g gitOps) assertGolden(markdown string) {
	g.t.Helper()
	const golden = "testdata/pullrequest.md"
	markdown = strings.ReplaceAll(markdown, system.RegistryHost(), "registry.example.com")
	for i, revision := range []string{"HEAD~1", "HEAD"} {
		hash := strings.TrimSpace(g.run("git", "rev-parse", revision))
		markdown = strings.ReplaceAll(markdown, hash, []string{"<base>", "<head>"}[i])
		markdown = strings.ReplaceAll(markdown, hash[:12], []string{"<base>", "<head>"}[i])
	}
	if os.Getenv("WINNOW_UPDATE") != "" {
		write(g.t, golden, markdown)
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		g.t.Fatal(err)
	}
	if markdown != string(want) {
		g.t.Errorf("the comment is\n%s\nwant\n%s", markdown, want)
	}
}

// versionsAfter maps the names of applications to the versions after the changes of the report.
func versionsAfter(before map[string]unstructured.Unstructured, changes []diff.Application) map[string][]string {
	want := map[string][]string{}
	for name, definition := range before {
		want[name] = liveVersions(definition)
	}
	for _, a := range changes {
		if a.Change == diff.Removed {
			delete(want, a.Name)
			continue
		}
		for _, v := range a.Versions {
			switch v.Change {
			case diff.Removed:
				want[a.Name] = slices.DeleteFunc(want[a.Name], func(s string) bool { return s == v.Version })
			case diff.Added:
				want[a.Name] = append(want[a.Name], v.Version)
			}
		}
	}
	return want
}

func liveVersions(definition unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var versions []string
	for _, element := range list {
		version, _, _ := unstructured.NestedString(element.(map[string]any), "version")
		versions = append(versions, version)
	}
	return versions
}
