//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/test/stack"
)

// TestInstances runs the life of four instances on a cluster of its own with helm-controller. The steps depend on their
// order.
func TestInstances(t *testing.T) {
	useHelmSystem(t)
	i, others := prepareInstances(t)
	offer := func(tag string, versions ...string) { i.offer(tag, append(others, webWith(versions...))...) }
	offer("v1.1", "1.4.0", "1.4.2", "1.4.3")
	offer("v1.2", "1.4.0", "1.4.2", "1.4.3", "1.4.4")
	offer("v2", "1.4.3", "1.4.4", "2.0.0")
	for _, step := range []struct {
		name string
		run  func(*installing)
	}{
		{"system applications come first", (*installing).installSystemFirst},
		{"values reach the charts in their order", (*installing).checkValues},
		{"an overlay changes one instance", (*installing).changeOne},
		{"a range follows the catalog, and upgrades in place", (*installing).followRange},
		{"a controller that is killed during an upgrade changes nothing", (*installing).killDuringUpgrade},
		{"a version that vanished is held, and keeps running", (*installing).keepVanished},
		{"a major is held until it is approved", (*installing).approveMajor},
		{"another identity is held until the policy publishes it", (*installing).changeIdentity},
		{"an object has one selection", (*installing).refuseSecondOwner},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.run(i.in(t)) }) {
			break
		}
	}
}

// versionsWith returns the versions of the instances, as the first catalog has them but for web.
func versionsWith(web string) map[string]string {
	return map[string]string{"authorities": "1.0.0", "handbook": "1.0.0", "store": "", "web": web}
}

// installSystemFirst deploys everything without the Secret that the system application needs: what depends on it waits,
// and the rest is installed.
func (i *installing) installSystemFirst() {
	i.t.Helper()
	i.deploy("  interval: 1h\n")
	i.commit([]string{i.applying("instances", "instances")})
	i.awaitRelease("authorities", "Ready", "False", "authorities")
	i.awaitRelease("web", "Ready", "False DependencyNotReady", "instances/authorities")
	i.awaitRelease("handbook", "Ready", "True")
	i.awaitRelease("cache-store", "Ready", "True")
	i.commit([]string{authoritiesSecret})
	i.awaitInstalled(versionsWith("1.4.2"))
}

// checkValues compares the values of charts with what each layer has set.
func (i *installing) checkValues() {
	i.t.Helper()
	installed := i.awaitInstalled(versionsWith("1.4.2"))
	for name, want := range map[string]map[string]any{
		"authorities": {"acme": "certificate"},
		"handbook":    {"title": "base"},
		"store":       {"memory": "1Gi", "replicas": 2.0},
		"web": {
			"a": "default", "b": "secret", "c": "values", "d": "override", "only": "chart",
			// Helm keeps a null where the chart itself has no such value.
			"list": []any{"secret"}, "tree": map[string]any{"left": nil, "right": "default"}, "nested": map[string]any{"keep": "chart"},
			"login": map[string]any{"user": "default", "password": "a,b={c}.d"}, "ports": []any{80.0, 8443.0},
		},
	} {
		if got := valuesOf(i.t, installed[name]); !reflect.DeepEqual(got, want) {
			i.t.Errorf("%s has the values\n%v\nwant\n%v", name, got, want)
		}
	}
	if got := installed["web"].Namespace + " " + installed["store"].Namespace + " " + installed["store"].Name; got != "frontend data cache-store" {
		i.t.Errorf("installed are %s", got)
	}
}

// changeOne sets a value of one instance by an overlay: the files of the others do not change, nor what they have
// installed.
func (i *installing) changeOne() {
	i.t.Helper()
	before := i.awaitInstalled(versionsWith("1.4.2"))
	files, state := i.files(), i.state(before)
	i.deploy("  instances: {handbook: {values: {title: overlay}}}\n")
	i.await("the value", func(context.Context) error {
		if got := valuesOf(i.t, i.result(before["handbook"]))["title"]; got != "overlay" {
			return fmt.Errorf("it is %v", got)
		}
		return nil
	})
	after := i.awaitInstalled(versionsWith("1.4.2"))
	if got := differing(files, i.files()); !slices.Equal(got, []string{"instances/instances/helmrelease-handbook.yaml"}) {
		i.t.Errorf("these files have changed: %v", got)
	}
	if got := differing(state, i.state(after)); !slices.Equal(got, []string{"handbook", "release handbook"}) {
		i.t.Errorf("these objects have changed: %v", got)
	}
	if after["handbook"].UID != before["handbook"].UID {
		i.t.Error("the instance was installed anew")
	}
}

// followRange points to a catalog with a higher version in the range.
func (i *installing) followRange() {
	i.t.Helper()
	before := i.awaitInstalled(versionsWith("1.4.2"))
	state := i.state(before)
	i.follow("v1.1")
	i.assertUpgraded(state, i.awaitInstalled(versionsWith("1.4.3")))
}

// killDuringUpgrade kills the controller when the next catalog is there. Without it, the artifact stays as it is; the
// next controller, which starts without data, publishes the upgrade once.
func (i *installing) killDuringUpgrade() {
	i.t.Helper()
	state := i.state(i.awaitInstalled(versionsWith("1.4.3")))
	revision := i.helmRevision("web")
	i.follow("v1.2")
	i.restart()
	i.assertUpgraded(state, i.awaitInstalled(versionsWith("1.4.4")))
	if got := i.helmRevision("web"); got != revision+1 {
		i.t.Errorf("the release has the revision %d, before %d", got, revision)
	}
}

// keepVanished points to catalogs without the installed version, and without any in the range.
func (i *installing) keepVanished() {
	i.t.Helper()
	results := i.awaitInstalled(versionsWith("1.4.4"))
	state := i.state(results)
	i.follow("v1.1")
	i.awaitHolding("VersionRemoval web: instance web would fall from 1.4.4 to 1.4.3")
	i.restart()
	i.awaitHolding("VersionRemoval web: instance web would fall from 1.4.4 to 1.4.3")
	i.awaitServed()
	i.deploy("  instances: {web: {version: 1.4.4}, handbook: {values: {title: overlay}}}\n")
	i.awaitHolding("VersionRemoval web: instance web would be removed, because")
	if got := differing(state, i.state(results)); len(got) > 0 {
		i.t.Errorf("while the version is held, these objects have changed: %v", got)
	}
	i.follow("v1.2")
	i.awaitInstalled(versionsWith("1.4.4"))
	if got := differing(state, i.state(results)); len(got) > 0 {
		i.t.Errorf("with the version back, these objects have changed: %v", got)
	}
}

// approveMajor widens the range, and points to a catalog with another major version.
func (i *installing) approveMajor() {
	i.t.Helper()
	const wide = "  instances: {web: {version: \">=1.4\"}, handbook: {values: {title: overlay}}}\n"
	i.deploy(wide)
	results := i.awaitInstalled(versionsWith("1.4.4"))
	state := i.state(results)
	digest := i.follow("v2")
	cs := i.awaitHolding("InstanceUpgrade web: instance web would rise from 1.4.4 to 2.0.0")
	if !slices.Equal(cs.Status.Held.Approve, []string{digest}) {
		i.t.Errorf("released by %v, want %s", cs.Status.Held.Approve, digest)
	}
	if got := differing(state, i.state(results)); len(got) > 0 {
		i.t.Errorf("while the major is held, these objects have changed: %v", got)
	}
	i.deploy(wide + "  safeguards: {approve: [\"" + digest + "\"]}\n")
	i.assertUpgraded(state, i.awaitInstalled(versionsWith("2.0.0")))
}

// changeIdentity renames a release, in its instance and by a patch.
func (i *installing) changeIdentity() {
	i.t.Helper()
	results := i.awaitInstalled(versionsWith("2.0.0"))
	state := i.state(results)
	const renamed = "IdentityChange handbook: instance handbook: releaseName would change from \"handbook\" to \"manual\""
	instances := func(handbook string) string {
		return "  instances: {web: {version: \">=1.4\"}, handbook: {values: {title: overlay}" + handbook + "}}\n"
	}
	const patches = `  patches:
  - target: {kind: HelmRelease, name: handbook}
    patch: |
      - {op: replace, path: /spec/releaseName, value: manual}
`
	i.deploy(instances(", releaseName: manual"))
	i.awaitHolding(renamed)
	i.deploy(instances("") + patches)
	i.awaitHolding(renamed)
	if got := differing(state, i.state(results)); len(got) > 0 {
		i.t.Errorf("while the identity is held, these objects have changed: %v", got)
	}
	i.deploy(instances(", releaseName: manual") + "  safeguards: {onIdentityChange: Publish}\n")
	i.await("the release is called manual", func(ctx context.Context) error {
		if _, err := i.installed(ctx, versionsWith("2.0.0")); err != nil {
			return err
		}
		return i.isAt(ctx, "handbook", "manual")
	})
	i.awaitGone(i.t.Context(), results["handbook"])
}

// isAt returns an error unless the HelmRelease installs a release with the name.
func (i *installing) isAt(ctx context.Context, name, want string) error {
	release, err := i.releaseOf(ctx, name)
	if err == nil && placeOf(release).Name != want {
		err = fmt.Errorf("it is called %s", placeOf(release).Name)
	}
	return err
}

// refuseSecondOwner creates another selection with an instance of the same name in the same namespace, and gives that
// instance another name, but the same release.
func (i *installing) refuseSecondOwner() {
	i.t.Helper()
	results := i.awaitInstalled(versionsWith("2.0.0"))
	state := i.state(results)
	for _, instances := range []string{
		"{web: {version: 1.4.3}}", "{another: {application: web, version: 1.4.3, releaseName: web}}",
	} {
		i.commit([]string{i.selecting("twin", "definitions: Omit", "instances: "+instances), i.applying("twin", "twin")})
		cs := i.of("twin").awaitStalled(v1alpha1.ConflictReason)
		if message := conditions.GetMessage(cs, meta.ReadyCondition); !strings.Contains(message, "instances/web") {
			i.t.Errorf("the message is %q", message)
		}
		i.remove(i.kustomizationOf("twin"), i.selectionOf("twin"))
	}
	if got := differing(state, i.state(results)); len(got) > 0 {
		i.t.Errorf("these objects have changed: %v", got)
	}
}

// awaitHolding waits until the selection is held for these reasons, each "<reason> <instance>: <beginning of the
// message>", and still serves what it published.
func (i *installing) awaitHolding(want ...string) *v1alpha1.CatalogSelection {
	i.t.Helper()
	return i.awaitSelection(fmt.Sprintf("held for %q", want), func(cs *v1alpha1.CatalogSelection) error {
		held := cs.Status.Held
		if held == nil || !conditions.IsTrue(cs, v1alpha1.HeldCondition) || !conditions.IsReady(cs) {
			return errors.New("not held, or not ready")
		}
		var got []string
		for _, r := range held.Reasons {
			got = append(got, fmt.Sprintf("%s %s: %s", r.Reason, r.Instance, r.Message))
		}
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			return fmt.Errorf("held for %q", got)
		}
		return nil
	})
}

// restart kills the controller, and starts one that has no data.
func (i *installing) restart() {
	i.t.Helper()
	if err := system.controller.Kill(); err != nil {
		i.t.Fatal(err)
	}
	if err := system.restart(i.t.Context(), stack.ControllerOptions{}); err != nil {
		i.t.Fatal(err)
	}
}

// awaitServed waits until the archive of the ExternalArtifact can be downloaded.
func (i *installing) awaitServed() {
	i.t.Helper()
	i.await("the archive", func(ctx context.Context) error {
		_, ea, _, err := i.live(ctx)
		if err == nil && i.download(ctx, ea.Status.Artifact.URL) != ea.Status.Artifact.Digest {
			err = errors.New("not served")
		}
		return err
	})
}

// assertUpgraded checks that only web has changed, and that its ConfigMap is the same object.
func (i *installing) assertUpgraded(before map[string]string, results map[string]*corev1.ConfigMap) {
	i.t.Helper()
	if got := differing(before, i.state(results)); !slices.Equal(got, []string{"release web", "web"}) {
		i.t.Errorf("these objects have changed: %v", got)
	}
	if !strings.HasPrefix(before["web"], string(results["web"].UID)) {
		i.t.Errorf("web was installed anew: it was %s and is %s", before["web"], results["web"].UID)
	}
}

// helmRevision returns the number of the last revision of a release, which counts installations and upgrades.
func (i *installing) helmRevision(name string) int64 {
	i.t.Helper()
	release, err := i.releaseOf(i.t.Context(), name)
	if err != nil {
		i.t.Fatal(err)
	}
	history, _, _ := unstructured.NestedSlice(release.Object, "status", "history")
	if len(history) == 0 {
		i.t.Fatalf("%s has no history: %v", name, release.Object["status"])
	}
	last, _ := history[0].(map[string]any)
	revision, _ := last["version"].(int64)
	return revision
}

// result returns a ConfigMap as it is now.
func (i *installing) result(of *corev1.ConfigMap) *corev1.ConfigMap {
	i.t.Helper()
	now := &corev1.ConfigMap{}
	if err := system.Client().Get(i.t.Context(), keyOf(of), now); err != nil {
		i.t.Fatal(err)
	}
	return now
}

// files maps the paths in the published archive to their contents.
func (i *installing) files() map[string]string {
	i.t.Helper()
	ea := &sourcev1.ExternalArtifact{ObjectMeta: i.metaOf(i.selection.Name)}
	if err := system.Client().Get(i.t.Context(), client.ObjectKeyFromObject(ea), ea); err != nil {
		i.t.Fatal(err)
	}
	packed, err := get(i.t.Context(), ea.Status.Artifact.URL)
	if err != nil {
		i.t.Fatal(err)
	}
	unpacked, err := archive.Read(i.t.Context(), bytes.NewReader([]byte(packed)), archive.Limits{})
	if err != nil {
		i.t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range filesIn(i.t, unpacked.FS()) {
		content, err := fs.ReadFile(unpacked.FS(), path)
		if err != nil {
			i.t.Fatal(err)
		}
		files[path] = string(content)
	}
	return files
}

// differing returns the keys whose values differ, sorted.
func differing(before, after map[string]string) (keys []string) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for key := range all {
		if before[key] != after[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
