// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// liveWithInstances runs the life of four instances. The steps depend on their order.
func liveWithInstances(t *testing.T) {
	i, others := prepareInstances(t)
	offer := func(tag string, versions ...string) {
		web := webWith(versions...)
		web.fields = strings.Replace(web.fields, "a: default", "a: other", 1)
		i.offer(tag, append(others, web)...)
	}
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
		"store":       {"_cluster": map[string]any{"root-host": "example.com"}, "memory": "1Gi", "replicas": 2.0}, // as in Cozystack
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
	registry := "oci://" + system.RegistryHost()
	i.assertSameRender(i.of("instances").awaitSelection("ready", func(*v1alpha1.CatalogSelection) error { return nil }),
		"instances="+registry+"/instances:v1", "instances-platform="+registry+"/instances-platform:v1")
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
	i.await("the value", func(ctx context.Context) error {
		if got := valuesOf(i.t, i.result(ctx, before["handbook"]))["title"]; got != "overlay" {
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

// followRange points to a catalog with a higher version in the range, and other default values: one upgrade has both.
func (i *installing) followRange() {
	i.t.Helper()
	before := i.awaitInstalled(versionsWith("1.4.2"))
	state, revision := i.state(before), i.webRevision()
	i.follow("v1.1")
	after := i.awaitInstalled(versionsWith("1.4.3"))
	i.assertUpgraded(state, after)
	if a, got := valuesOf(i.t, after["web"])["a"], i.webRevision(); a != "other" || got != revision+1 {
		i.t.Errorf("a is %v in revision %d, which was %d", a, got, revision)
	}
}

// killDuringUpgrade kills the controller when the next catalog is there. Without it, the artifact stays as it is; the
// next controller, which starts without data, publishes the upgrade once.
func (i *installing) killDuringUpgrade() {
	i.t.Helper()
	state := i.state(i.awaitInstalled(versionsWith("1.4.3")))
	revision := i.webRevision()
	i.follow("v1.2")
	i.restart()
	i.assertUpgraded(state, i.awaitInstalled(versionsWith("1.4.4")))
	if got := i.webRevision(); got != revision+1 {
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
	i.follow("v2")
	const line = "Instance/web:upgrade/2.0.0"
	cs := i.awaitHolding("InstanceUpgrade web: instance web would rise from 1.4.4 to 2.0.0")
	if !slices.Equal(cs.Status.Held.Approve, []string{line}) {
		i.t.Errorf("released by %v, want %s", cs.Status.Held.Approve, line)
	}
	if got := differing(state, i.state(results)); len(got) > 0 {
		i.t.Errorf("while the major is held, these objects have changed: %v", got)
	}
	i.deploy(wide + "  " + naming(line) + "\n")
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
	for name, instances := range map[string]string{ // two names: one that is created again is compared with what is left of the first
		"twin": "{web: {version: 1.4.3}}", "renamed": "{another: {application: web, version: 1.4.3, releaseName: web}}",
	} {
		i.commit([]string{i.selecting(name, "definitions: Omit", "instances: "+instances), i.applying(name, name)})
		cs := i.of(name).awaitStalled(v1alpha1.ConflictReason)
		if message := conditions.GetMessage(cs, meta.ReadyCondition); !strings.Contains(message, "instances/web") {
			i.t.Errorf("the message is %q", message)
		}
		i.remove(i.kustomizationOf(name), i.selectionOf(name))
	}
	if got := differing(state, i.state(results)); len(got) > 0 {
		i.t.Errorf("these objects have changed: %v", got)
	}
}
