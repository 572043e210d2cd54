// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// Directories of the example without a platform.
const (
	plainExample = "examples/plain-flux"
	plainCharts  = plainExample + "/charts"
)

// plain shows instances on a cluster with Flux alone.
func plain() show {
	return show{
		catalog: plainExample + "/catalog", reference: "catalogs/plain-flux", source: "plain-catalog",
		options: stack.Options{HelmController: true},
		steps: []func(*demo, context.Context) error{
			(*demo).installEager, (*demo).publishCharts, (*demo).publishPlain, (*demo).applyOverlay,
			(*demo).upgradeInRange, (*demo).holdMajor, (*demo).approveMajor, (*demo).removeInstance,
		},
	}
}

// installEager installs Winnow so that an edit that removes something waits for its sources for a short time only.
func (d *demo) installEager(ctx context.Context) error {
	d.say("installing Winnow from config/default, with its own least rights")
	d.note("--settle-delay=2s, instead of 30s, so that the last step takes no longer")
	if err := d.ApplyKustomization(ctx, "config/default"); err != nil {
		return err
	}
	_, err := d.StartController(ctx, stack.ControllerOptions{Args: []string{"--settle-delay=2s"}})
	return err
}

func (d *demo) publishCharts(ctx context.Context) error {
	d.say("pushing the charts of examples/plain-flux to the registry")
	return d.PushCharts(ctx, plainCharts, "charts")
}

func (d *demo) publishPlain(ctx context.Context) error {
	d.say("pushing examples/plain-flux/catalog to the registry as v1.0.0")
	digest, err := d.PushCatalog(ctx, d.catalog, d.reference+":v1.0.0", stack.PushOptions{})
	if err == nil {
		d.note("%s", digest)
	}
	return err
}

func (d *demo) applyOverlay(ctx context.Context) error {
	d.say("applying examples/plain-flux/clusters/staging, an overlay of the base")
	dir, err := editedCopy(filepath.Join(d.root, plainExample), d.localRegistry)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := d.ApplyKustomization(ctx, filepath.Join(dir, "clusters/staging")); err != nil {
		return err
	}
	cs, err := d.awaitApplied(ctx, "")
	if err != nil {
		return err
	}
	d.note("%s", ready(cs))
	d.say("helm-controller has installed what the instances stand for")
	return d.listInstances(ctx, cs)
}

// localRegistry replaces the address of the registry in a file of the example: of the catalog, and of the mirror of the
// charts.
func (d *demo) localRegistry(_, content string) string {
	return strings.NewReplacer(
		"  url: oci://registry.example.com/", fmt.Sprintf("  insecure: true\n  url: oci://%s/", d.RegistryHost()),
		"    to: registry.example.com/charts", fmt.Sprintf("    to: %s/charts\n    helm: {plainHTTP: true}", d.RegistryHost()),
	).Replace(content)
}

// upgradeInRange publishes a catalog with one more version of dashboards, which the range of the instance covers.
func (d *demo) upgradeInRange(ctx context.Context) error {
	d.say("upgrading to v1.1.0, which has dashboards 1.4.3; the instance says ~1.4")
	cs, err := d.releaseChart(ctx, "v1.1.0", "dashboards", "1.4.2", "1.4.3", d.awaitApplied)
	if err != nil {
		return err
	}
	d.note("%s", ready(cs))
	return d.listInstances(ctx, cs)
}

// holdMajor publishes a catalog whose default version of trust-bundle has another major.
func (d *demo) holdMajor(ctx context.Context) error {
	d.say("upgrading to v2.0.0, whose default version of trust-bundle is 2.0.0")
	cs, err := d.releaseChart(ctx, "v2.0.0", "trust-bundle", "1.1.0+build.3", "2.0.0", d.awaitHeld)
	if err != nil {
		return err
	}
	for _, reason := range cs.Status.Held.Reasons {
		d.note("held: %s", reason.Message)
	}
	d.say("nothing was upgraded: the last good artifact is still applied")
	return d.listInstances(ctx, cs)
}

func (d *demo) approveMajor(ctx context.Context) error {
	cs, err := d.approveHeld(ctx)
	if err != nil {
		return err
	}
	return d.listInstances(ctx, cs)
}

// removeInstance removes an instance from the spec, of a selection that lets Flux delete what leaves.
func (d *demo) removeInstance(ctx context.Context) error {
	d.say("letting Flux delete what leaves: deletionPolicy: Delete")
	if _, err := d.edit(ctx, `{"spec":{"deletionPolicy":"Delete"}}`); err != nil {
		return err
	}
	d.say("removing the instance logs from the spec, which uninstalls it")
	cs, err := d.edit(ctx, `{"spec":{"instances":{"logs":null},"safeguards":{"approve":["Instance/logs"]}}}`)
	if err != nil {
		return err
	}
	if err := d.awaitUninstalled(ctx, "logs"); err != nil {
		return err
	}
	return d.listInstances(ctx, cs)
}

// edit patches the selection, as an overlay would, and waits until that is applied.
func (d *demo) edit(ctx context.Context, patch string) (*v1alpha1.CatalogSelection, error) {
	cs, err := d.selection(ctx)
	if err != nil {
		return nil, err
	}
	last := cs.Status.Artifact.Revision
	if err := d.Client().Patch(ctx, cs, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return nil, err
	}
	if cs, err = d.awaitApplied(ctx, last); err == nil {
		d.note("%s", ready(cs))
	}
	return cs, err
}

// releaseChart pushes a chart of the example with another version, and a catalog in which this is the default version of
// the application, besides those that it had.
func (d *demo) releaseChart(ctx context.Context, tag, chart, from, version string,
	await func(context.Context, string) (*v1alpha1.CatalogSelection, error)) (*v1alpha1.CatalogSelection, error) {
	dir, err := editedCopy(filepath.Join(d.root, plainCharts, chart, from), func(_, content string) string {
		return strings.Replace(content, "version: "+from, "version: "+version, 1)
	})
	if err != nil {
		return nil, err
	}
	_, err = d.PushChart(ctx, dir, "charts")
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	d.added[chart] = version
	return d.release(ctx, tag, func(file, content string) string {
		version, isAdded := d.added[filepath.Base(filepath.Dir(file))]
		if !isAdded || filepath.Base(file) != "application.yaml" {
			return content
		}
		return withVersion(content, version)
	}, await)
}
