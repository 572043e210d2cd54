// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// cozystack is examples/cozystack in the cluster of the tests.
type cozystack struct {
	*scenario
	repository *sourcev1.OCIRepository
}

const platformCatalog = "platform/definitions"

func TestExampleCozystackWorksAsIs(t *testing.T) {
	if err := system.ApplyPath(t.Context(), "test/e2e/testdata/cozystack_crd.yaml"); err != nil {
		t.Fatal(err)
	}
	c := newCozystack(t)
	packages := filepath.Join(system.root, "examples/cozystack/packages")
	winnow(t, "push", "--plain-http", packages, "oci://"+system.RegistryHost()+"/"+platformCatalog+":v1.0.0", "--include", "system/*-rd/cozyrds/*.yaml")
	c.createLive()
	gitops := localGitOps(t, "examples/cozystack/gitops")
	if err := system.ApplyKustomization(t.Context(), gitops); err != nil {
		t.Fatal(err)
	}
	c.awaitAdoption()
	first := c.awaitDefinitions("v1.0.0", "bucket", "cache", "postgres")
	c.assertSameRender(first, packages)
	if prefix := c.field("cache", "spec", "release", "prefix"); prefix != "cache-" {
		t.Errorf("cache has the prefix %q", prefix)
	}
	c.assertManagers()
	for _, test := range platformUpgrades {
		t.Run(test.name, func(t *testing.T) { c.in(t).upgradeTo(packages, test) })
	}
}

// platformUpgrade is a change of the packages, from those of the example, and its effect.
type platformUpgrade struct {
	name, file string // below packages/system
	old, new   string // replaced in the file; without them, the file is removed
	held       string // reason and application; empty if the change is published
	message    string // part of the reason's message
}

// platformUpgrades are the rows of the table in docs/guides/cozystack.md.
var platformUpgrades = []platformUpgrade{
	{"a definition is gone", "bucket-rd/cozyrds/bucket.yaml", "", "", "Removal bucket", "would be removed"},
	{"its tier is not selected", "bucket-rd/cozyrds/bucket.yaml", "tier: silver", "tier: bronze", "Removal bucket", "would be removed"},
	{"prefix", "cache-rd/cozyrds/cache.yaml", "prefix: cache-", "prefix: kv-", "IdentityChange cache",
		`spec.release.prefix would change from "cache-" to "kv-"`},
	{"kind", "cache-rd/cozyrds/cache.yaml", "    kind: Cache", "    kind: KeyValue", "IdentityChange cache",
		`spec.application.kind would change from "Cache" to "KeyValue"`},
	{"plural", "postgres-rd/cozyrds/postgres.yaml", "plural: postgreses", "plural: postgresqls", "IdentityChange postgres",
		`spec.application.plural would change from "postgreses" to "postgresqls"`},
	{"chart", "postgres-rd/cozyrds/postgres.yaml", "name: platform-postgres", "name: platform-postgres-17", "SourceChange postgres",
		"would come from another chart or module"},
	{"two of a kind", "queue-rd/cozyrds/queue.yaml", "    kind: Queue", "    kind: Cache", "InvalidCatalog", "queue.yaml:"},
	{"the chart beside it", "cache-rd/Chart.yaml", "version: 0.0.0", "version: 0.1.0", "", ""},
	{"schema", "cache-rd/cozyrds/cache.yaml", `"default":"256Mi"`, `"default":"512Mi"`, "", ""},
}

// upgradeTo pushes the changed packages, waits for the effect, and goes back to those of the example.
func (c *cozystack) upgradeTo(packages string, upgrade platformUpgrade) {
	t := c.t
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(packages)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "system", upgrade.file)
	if upgrade.old == "" {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	} else {
		replaceIn(t, file, upgrade.old, upgrade.new)
	}
	before := c.versions()
	tag := strings.ReplaceAll(upgrade.name, " ", "-")
	c.pushPackages(tag, dir)
	c.follow(tag)
	switch {
	case upgrade.held == v1alpha1.InvalidCatalogReason:
		cs := c.awaitStalled(upgrade.held)
		if message := conditions.GetMessage(cs, meta.ReadyCondition); !strings.Contains(message, upgrade.message) {
			t.Errorf("the message is %q", message)
		}
	case upgrade.held != "":
		c.awaitHeldBecause(tag, upgrade)
	default:
		cs := c.awaitDefinitions(tag, "bucket", "cache", "postgres")
		c.assertSameRender(cs, dir)
	}
	if changed := c.versions() != before; changed != (upgrade.name == "schema") {
		t.Errorf("definitions were written: %t", changed)
	}
	c.follow("v1.0.0")
	c.awaitDefinitions("v1.0.0", "bucket", "cache", "postgres")
}

func newCozystack(t *testing.T) *cozystack {
	key := metav1.ObjectMeta{Name: "definitions", Namespace: stack.FluxNamespace}
	c := &cozystack{&scenario{t: t, name: key.Name, selection: &v1alpha1.CatalogSelection{ObjectMeta: key}}, &sourcev1.OCIRepository{}}
	c.repository.Name, c.repository.Namespace = "platform-definitions", stack.FluxNamespace
	t.Cleanup(func() {
		c.remove(&kustomizev1.Kustomization{ObjectMeta: key}, c.selection, c.repository)
		for _, d := range c.list(context.WithoutCancel(t.Context())) {
			c.remove(&d)
		}
	})
	return c
}

// in returns the same cluster for a subtest.
func (c *cozystack) in(t *testing.T) *cozystack {
	return &cozystack{&scenario{t: t, name: c.name, selection: c.selection}, c.repository}
}

// pushPackages pushes a directory as `flux push artifact --path` does.
func (c *cozystack) pushPackages(tag, dir string) {
	c.t.Helper()
	options := stack.PushOptions{Shape: stack.FluxArtifact}
	if _, err := system.PushCatalog(c.t.Context(), dir, platformCatalog+":"+tag, options); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cozystack) follow(tag string) {
	c.t.Helper()
	c.update(c.repository, func() { c.repository.Spec.Reference = &sourcev1.OCIRepositoryRef{Tag: tag} })
}

// awaitDefinitions waits until exactly these definitions of a tag are published, applied and live.
func (c *cozystack) awaitDefinitions(tag string, names ...string) *v1alpha1.CatalogSelection {
	c.t.Helper()
	cs, ks := c.selection, &kustomizev1.Kustomization{ObjectMeta: c.selection.ObjectMeta}
	c.await(fmt.Sprintf("%s applied: %v", tag, names), func(ctx context.Context) error {
		if err := system.Client().Get(ctx, keyOf(cs), cs); err != nil {
			return err
		}
		if err := system.Client().Get(ctx, keyOf(ks), ks); err != nil {
			return err
		}
		if !conditions.IsReady(cs) || conditions.IsTrue(cs, v1alpha1.HeldCondition) || !conditions.IsReady(ks) ||
			!strings.HasPrefix(cs.Status.Sources[0].Revision, tag+"@") || ks.Status.LastAppliedRevision != cs.Status.Artifact.Revision {
			return fmt.Errorf("selection %+v, Kustomization %+v", cs.Status.Conditions, ks.Status.Conditions)
		}
		var live []string
		for _, d := range c.list(ctx) {
			live = append(live, d.GetName())
		}
		if !slices.Equal(live, names) {
			return fmt.Errorf("live are %v", live)
		}
		return nil
	})
	return cs.DeepCopy()
}

// awaitHeldBecause waits until the tag is held for exactly the reason of the upgrade.
func (c *cozystack) awaitHeldBecause(tag string, upgrade platformUpgrade) {
	c.t.Helper()
	c.awaitSelection("held for "+upgrade.held, func(cs *v1alpha1.CatalogSelection) error {
		held := cs.Status.Held
		if held == nil || !strings.HasPrefix(held.Revision, tag+"@") || len(held.Reasons) != 1 || len(held.Approve) != 1 {
			return fmt.Errorf("held is %+v", held)
		}
		reason := held.Reasons[0]
		if got := reason.Reason + " " + reason.Application; got != upgrade.held || !strings.Contains(reason.Message, upgrade.message) {
			return fmt.Errorf("held for %+v", reason)
		}
		if !conditions.IsReady(cs) || !strings.HasPrefix(held.Approve[0], reason.Application) {
			return fmt.Errorf("released by %v", held.Approve)
		}
		return nil
	})
}

// createLive creates the definition of the cache that an earlier owner has left, with another prefix.
func (c *cozystack) createLive() {
	c.t.Helper()
	example := filepath.Join(system.root, "examples/cozystack/packages/system/cache-rd/cozyrds/cache.yaml")
	content, err := os.ReadFile(example)
	if err != nil {
		c.t.Fatal(err)
	}
	live := strings.Replace(string(content), "prefix: cache-", "prefix: kv-", 1)
	if err := system.Apply(c.t.Context(), []byte(live)); err != nil {
		c.t.Fatal(err)
	}
}

// awaitAdoption waits until the first publication is held, which would orphan the releases of the live
// definition, as the command line previews it, and corrects that one.
func (c *cozystack) awaitAdoption() {
	c.t.Helper()
	message := `spec.release.prefix would change from "kv-" to "cache-": its releases would be orphaned, and installed anew`
	c.awaitSelection("held for the live prefix", func(cs *v1alpha1.CatalogSelection) error {
		held := cs.Status.Held
		if cs.Status.Artifact != nil || held == nil || len(held.Reasons) != 1 || held.Reasons[0].Application != "cache" ||
			held.Reasons[0].Reason != v1alpha1.IdentityChangeReason || held.Reasons[0].Message != message {
			return fmt.Errorf("held is %+v", held)
		}
		return nil
	})
	example := filepath.Join(system.root, "examples/cozystack")
	preview := exec.CommandContext(c.t.Context(), system.winnow, "diff", "-f", filepath.Join(example, "gitops/selection.yaml"),
		"--to", filepath.Join(example, "packages"), "--live", "--kubeconfig", system.Kubeconfig(), "--fail-on", "held")
	out, err := preview.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--fail-on held: cache (IdentityChange)\n") {
		c.t.Errorf("the preview is %v\n%s", err, out)
	}
	live := c.list(c.t.Context())[0]
	c.update(&live, func() {
		if err := unstructured.SetNestedField(live.Object, "cache-", "spec", "release", "prefix"); err != nil {
			c.t.Fatal(err)
		}
	})
}

// assertManagers runs the command of the guide that shows the managers of live definitions.
func (c *cozystack) assertManagers() {
	c.t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		c.t.Log("without kubectl, a command of the guide is not run")
		return
	}
	command := exec.CommandContext(c.t.Context(), "sh", "-eu", "-c", guideBlock(c.t, "cozystack.md", "custom-columns"))
	command.Env = append(os.Environ(), "KUBECONFIG="+system.Kubeconfig())
	out, err := command.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "NAME ") || !strings.Contains(string(out), "<none>    kustomize-controller\n") {
		c.t.Errorf("the guide lists %v\n%s", err, out)
	}
}

// list returns the live definitions, sorted by name.
func (c *cozystack) list(ctx context.Context) []unstructured.Unstructured {
	c.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "cozystack.io", Version: "v1alpha1", Kind: "ApplicationDefinitionList"})
	if err := system.Client().List(ctx, list); err != nil {
		c.t.Fatal(err)
	}
	return list.Items
}

// versions returns the resourceVersions of the live definitions as a text.
func (c *cozystack) versions() string {
	c.t.Helper()
	var all []string
	for _, d := range c.list(c.t.Context()) {
		all = append(all, d.GetName()+" "+d.GetResourceVersion())
	}
	return strings.Join(all, ", ")
}

func (c *cozystack) field(name string, path ...string) string {
	c.t.Helper()
	for _, d := range c.list(c.t.Context()) {
		if d.GetName() == name {
			value, _, _ := unstructured.NestedString(d.Object, path...)
			return value
		}
	}
	return ""
}

func replaceIn(t *testing.T, file, old, replacement string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(content), old) != 1 {
		t.Fatalf("%s has %q not once", file, old)
	}
	write(t, file, strings.Replace(string(content), old, replacement, 1))
}
