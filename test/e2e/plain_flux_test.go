// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

const plainGuidePage = "plain-flux.md"

// plainGuide is the admin of a cluster with Flux alone who follows docs/guides/plain-flux.md in a copy of
// examples/plain-flux.
type plainGuide struct {
	*scenario
	dir   string
	spoke *stack.Stack // nil until it is started
}

// The steps depend on their order.
func TestPlainFluxGuide(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skipf("the guide needs kubectl: %v", err)
	}
	useHelmSystem(t)
	g := newPlainGuide(t)
	g.run("winnow push")
	g.preview()
	g.install()
	g.takeFromSecret()
	g.review()
	g.upgrade()
	g.split()
	g.travel()
}

func newPlainGuide(t *testing.T) *plainGuide {
	t.Helper()
	key := metav1.ObjectMeta{Name: "applications", Namespace: stack.FluxNamespace}
	g := &plainGuide{scenario: &scenario{t: t, name: "plain-flux", selection: &v1alpha1.CatalogSelection{ObjectMeta: key}}, dir: t.TempDir()}
	if err := os.CopyFS(g.dir, os.DirFS(filepath.Join(system.root, "examples/plain-flux"))); err != nil {
		t.Fatal(err)
	}
	for _, file := range filesIn(t, os.DirFS(g.dir)) {
		if filepath.Ext(file) == ".yaml" {
			g.edit(file, g.local)
		}
	}
	if err := system.PushCharts(t.Context(), filepath.Join(g.dir, "charts"), "charts"); err != nil {
		t.Fatal(err)
	}
	// The registry here has no TLS, unlike that of the guide.
	g.command("winnow", "case $1 in push|diff) set -- \"$@\" --plain-http ;; esac\nexec "+system.winnow+" \"$@\"")
	return g
}

// local replaces the address of the registry in a file, or in commands, by that of the registry without TLS.
func (g *plainGuide) local(text string) string {
	return strings.NewReplacer(
		"    url: oci://registry.example.com/", "    insecure: true\n    url: oci://"+system.RegistryHost()+"/", // spec.push
		"  url: oci://registry.example.com/", "  insecure: true\n  url: oci://"+system.RegistryHost()+"/",
		"    to: registry.example.com/charts", "    to: "+system.RegistryHost()+"/charts\n    helm: {plainHTTP: true}",
		"registry.example.com", system.RegistryHost(),
	).Replace(text)
}

func (g *plainGuide) edit(file string, edit func(string) string) {
	g.t.Helper()
	content, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		g.t.Fatal(err)
	}
	write(g.t, filepath.Join(g.dir, file), edit(string(content)))
}

// command puts a script into the PATH of the guide's commands.
func (g *plainGuide) command(name, script string) {
	g.t.Helper()
	file := filepath.Join(g.dir, "bin", name)
	write(g.t, file, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(file, 0o700); err != nil {
		g.t.Fatal(err)
	}
}

// run runs the block of the guide with a text, and returns what it prints.
func (g *plainGuide) run(with string) string {
	g.t.Helper()
	script := g.local(guideBlock(g.t, plainGuidePage, with))
	command := exec.CommandContext(g.t.Context(), "sh", "-eu", "-c", script)
	command.Dir = g.dir
	command.Env = []string{
		"PATH=" + filepath.Join(g.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + g.dir, "KUBECONFIG=" + system.Kubeconfig(),
	}
	out, err := command.CombinedOutput()
	if err != nil {
		g.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// contains checks that an output has texts in an order.
func (g *plainGuide) contains(output string, texts ...string) {
	g.t.Helper()
	rest := output
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			g.t.Fatalf("%q is not where it belongs in\n%s", text, output)
		}
		rest = after
	}
}

func (g *plainGuide) preview() {
	g.t.Helper()
	g.contains(g.run("kubectl kustomize clusters/staging"), "alerts ", "dashboards ", "1.4.2", "logs ", "trust-bundle ", "ConfigMap cluster-values")
	for _, file := range []string{"helmrelease-alerts.yaml", "helmrelease-logs.yaml"} {
		if _, err := os.Stat(filepath.Join(g.dir, "rendered/instances/flux-system", file)); err != nil {
			g.t.Error(err)
		}
	}
}

func (g *plainGuide) install() {
	g.t.Helper()
	g.contains(g.run("kubectl apply -k clusters/staging"), "alerts ", " True ", "dashboards ", " True ", "logs ", " True ", "trust-bundle ", " True ")
	g.contains(g.run(".status.instances[*]"), "alerts 1.1.0 HelmRelease flux-system/alerts\n", "dashboards 1.4.2 ", "logs 0.9.0 ", "trust-bundle 1.1.0 ")
	g.awaitInstalled(system.Stack, "alerting", "alerts", "rules.yaml", "cluster: staging")
	g.awaitInstalled(system.Stack, "logging", "logs", "pipeline.yaml", "host: logs.staging.example.com", "port: 24225")
}

// takeFromSecret gives a value of an instance to a Secret.
func (g *plainGuide) takeFromSecret() {
	g.t.Helper()
	g.run("create secret generic logs-output")
	const head = "apiVersion: catalog.winnow.dev/v1alpha1\nkind: CatalogSelection\nmetadata: {name: applications, namespace: flux-system}\n"
	write(g.t, filepath.Join(g.dir, "clusters/staging/secret.yaml"), head+guideBlock(g.t, plainGuidePage, "name: logs-output"))
	g.edit("clusters/staging/kustomization.yaml", func(content string) string { return content + "- path: secret.yaml\n" })
	g.apply("clusters/staging")
	g.awaitInstalled(system.Stack, "logging", "logs", "pipeline.yaml", "host: logs.internal.example.com", "port: 24225")
}

// review compares two commits, of which the second one lets production follow a range.
func (g *plainGuide) review() {
	g.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		g.t.Log("without git, a command of the guide is not run")
		return
	}
	commit := func(after string) {
		command := exec.CommandContext(g.t.Context(), "sh", "-euc", "git init -q; git add base clusters flux; "+
			"git -c user.name=admin -c user.email=admin@example.com commit -qm change; "+after)
		command.Dir = g.dir
		command.Env = append(os.Environ(), "HOME="+g.dir, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := command.CombinedOutput(); err != nil {
			g.t.Fatalf("committing: %v\n%s", err, out)
		}
	}
	commit("git remote add origin ssh://git@git.example.com/platform/plain-flux; git update-ref refs/remotes/origin/main HEAD")
	g.edit("clusters/production/instances.yaml", func(content string) string {
		return strings.Replace(content, "version: 1.4.0", "version: ~1.4", 1)
	})
	commit("")
	g.contains(g.run("winnow diff --git"), "flux/production", "instance dashboards: 1.4.0 -> 1.4.2, patch")
}

// upgrade reviews and publishes a catalog with a patch of dashboards and a major of trust-bundle, and takes it back.
func (g *plainGuide) upgrade() {
	g.t.Helper()
	if err := os.CopyFS(filepath.Join(g.dir, "new/catalog"), os.DirFS(filepath.Join(g.dir, "catalog"))); err != nil {
		g.t.Fatal(err)
	}
	add := func(application string, versions ...string) {
		g.edit("new/catalog/applications/"+application+"/application.yaml", func(content string) string {
			return content + strings.NewReplacer(versions...).Replace(content[strings.LastIndex(content, "    - version: "):])
		})
	}
	add("dashboards", "1.5.0", "1.4.3")
	add("trust-bundle", "1.1.0+build.3", "2.0.0", "1.1.0", "2.0.0")
	g.edit("new/catalog/applications/trust-bundle/application.yaml", func(content string) string {
		return strings.Replace(content, "defaultVersion: 1.1.0", "defaultVersion: 2.0.0", 1)
	})
	page, err := os.ReadFile(filepath.Join(system.root, "docs/guides", plainGuidePage))
	if err != nil {
		g.t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```console\nHELD")
	shown, _, _ = strings.Cut(shown, "```")
	g.contains(g.run("winnow diff -f staging.yaml"), strings.Split("HELD"+shown, "...\n")...)

	if _, err := system.PushCatalog(g.t.Context(), filepath.Join(g.dir, "new/catalog"), "catalogs/plain-flux:v1.1.0", stack.PushOptions{}); err != nil {
		g.t.Fatal(err)
	}
	g.followTag("v1.0.0", "v1.1.0")
	g.awaitSelection("the major is held", func(cs *v1alpha1.CatalogSelection) error {
		if cs.Status.Held == nil {
			return fmt.Errorf("conditions are %+v", cs.Status.Conditions)
		}
		return nil
	})
	g.contains(g.run(".status.held.reasons[*]"), "InstanceUpgrade instance trust-bundle would rise from 1.1.0 to 2.0.0\nInstance/trust-bundle:upgrade/2.0.0")
	g.followTag("v1.1.0", "v1.0.0")
}

// followTag points the cluster, and the base, to another tag of the catalog.
func (g *plainGuide) followTag(from, to string) {
	g.t.Helper()
	g.edit("base/catalog.yaml", func(content string) string { return strings.Replace(content, "tag: "+from, "tag: "+to, 1) })
	g.apply("clusters/staging")
}

func (g *plainGuide) apply(dir string) {
	g.t.Helper()
	if err := system.ApplyKustomization(g.t.Context(), filepath.Join(g.dir, dir)); err != nil {
		g.t.Fatal(err)
	}
}

// awaitInstalled waits until a ConfigMap that a chart has installed has texts.
func (g *plainGuide) awaitInstalled(cluster *stack.Stack, namespace, name, key string, texts ...string) {
	g.t.Helper()
	g.await(fmt.Sprintf("%s/%s has %q", namespace, name, texts), func(ctx context.Context) error {
		installed := &corev1.ConfigMap{}
		err := cluster.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, installed)
		for _, text := range texts {
			if err == nil && !strings.Contains(installed.Data[key], text) {
				err = fmt.Errorf("it has\n%s", installed.Data[key])
			}
		}
		return err
	})
}
