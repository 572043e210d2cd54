// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

func (d *demo) install(ctx context.Context) error {
	d.say("installing Winnow from config/default, with its own least rights")
	if err := d.ApplyKustomization(ctx, "config/default"); err != nil {
		return err
	}
	_, err := d.StartController(ctx, stack.ControllerOptions{})
	return err
}

func (d *demo) publish(ctx context.Context) error {
	d.say("pushing examples/catalog to the registry as v1.0.0")
	digest, err := d.PushCatalog(ctx, d.catalog, d.reference+":v1.0.0", stack.PushOptions{})
	if err == nil {
		d.note("%s", digest)
	}
	return err
}

func (d *demo) apply(ctx context.Context) error {
	d.say("applying examples/gitops: OCIRepository, CatalogSelection, Kustomization")
	dir, err := d.gitops()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := d.ApplyKustomization(ctx, dir); err != nil {
		return err
	}
	cs, err := d.awaitApplied(ctx, "")
	if err != nil {
		return err
	}
	d.note("%s", ready(cs))
	d.say("the cluster now has these ApplicationDefinitions")
	return d.list(ctx, cs)
}

// upgrade publishes a catalog in which one selected application has changed.
func (d *demo) upgrade(ctx context.Context) error {
	d.say("upgrading to v1.1.0, in which the values of argocd changed")
	before, err := d.resourceVersions(ctx)
	if err != nil {
		return err
	}
	edit := func(file, content string) string {
		if strings.Contains(file, "/argocd/") {
			return withReplicas(content)
		}
		return content
	}
	cs, err := d.release(ctx, "v1.1.0", edit, d.awaitApplied)
	if err != nil {
		return err
	}
	d.note("%s", ready(cs))
	after, err := d.resourceVersions(ctx)
	if err != nil {
		return err
	}
	for name, version := range after {
		if before[name] != version {
			d.note("changed in the cluster: %s", name)
		}
	}
	return nil
}

// withReplicas returns a definition of v1.1.0, which v2.0.0 has as well.
func withReplicas(definition string) string {
	return strings.ReplaceAll(definition, "replicas: 1", "replicas: 2")
}

// hold publishes a catalog without an application and without a version of another one.
func (d *demo) hold(ctx context.Context) error {
	d.say("upgrading to v2.0.0, which lost loki and argocd's version 2.13.0")
	edit := func(file, content string) string {
		switch {
		case strings.Contains(file, "/loki/"):
			return ""
		case strings.Contains(file, "/argocd/"):
			kept, rest, _ := strings.Cut(withReplicas(content), "    - version: 2.13.0\n")
			_, next, _ := strings.Cut(rest, "    - version: ")
			if next != "" {
				return kept + "    - version: " + next
			}
		}
		return content
	}
	cs, err := d.release(ctx, "v2.0.0", edit, d.awaitHeld)
	if err != nil {
		return err
	}
	for _, reason := range cs.Status.Held.Reasons {
		d.note("held: %s: %s", reason.Application, reason.Message)
	}
	d.note("%s", strings.ReplaceAll(ready(cs), "; ", "\n    "))
	d.say("nothing was removed: the last good artifact is still applied")
	return d.list(ctx, cs)
}

// approve approves the held change.
func (d *demo) approve(ctx context.Context) error {
	cs, err := d.approveHeld(ctx)
	if err != nil {
		return err
	}
	d.say("loki left the artifact, and stays in the cluster: deletionPolicy is Orphan")
	return d.list(ctx, cs)
}

// approveHeld approves what is held, as a pull request would.
func (d *demo) approveHeld(ctx context.Context) (*v1alpha1.CatalogSelection, error) {
	last, err := d.selection(ctx)
	if err != nil {
		return nil, err
	}
	d.say("naming what changes, as a pull request does")
	d.note("spec.safeguards.approve:")
	for _, line := range last.Status.Held.Approve {
		d.note("- %s", line)
	}
	before := last.DeepCopy()
	last.Spec.Safeguards.Approve = last.Status.Held.Approve
	if err := d.Client().Patch(ctx, last, client.MergeFrom(before)); err != nil {
		return nil, err
	}
	cs, err := d.awaitApplied(ctx, before.Status.Artifact.Revision)
	if err == nil {
		d.note("%s", ready(cs))
	}
	return cs, err
}

// release pushes an edited copy of the example catalog, lets Flux pull it, and waits.
func (d *demo) release(ctx context.Context, tag string, edit func(file, content string) string,
	await func(context.Context, string) (*v1alpha1.CatalogSelection, error)) (*v1alpha1.CatalogSelection, error) {
	dir, err := editedCopy(filepath.Join(d.root, d.catalog), edit)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := d.PushCatalog(ctx, dir, d.reference+":"+tag, stack.PushOptions{}); err != nil {
		return nil, err
	}
	last, err := d.selection(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.follow(ctx, tag); err != nil {
		return nil, err
	}
	return await(ctx, last.Status.Artifact.Revision)
}

// gitops returns a copy of examples/gitops that names the local registry.
func (d *demo) gitops() (string, error) {
	return editedCopy(filepath.Join(d.root, "examples/gitops"), func(_, content string) string {
		local := fmt.Sprintf("insecure: true\n  url: oci://%s/", d.RegistryHost())
		return strings.Replace(content, "url: oci://registry.example.com/", local, 1)
	})
}

// editedCopy copies a directory into a temporary one and calls edit for each file. It leaves out files
// that are empty afterwards.
func editedCopy(from string, edit func(file, content string) string) (string, error) {
	dir, err := os.MkdirTemp("", "winnow-demo-")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return "", err
	}
	return dir, filepath.WalkDir(dir, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		edited := edit(file, string(content))
		if edited == "" {
			return os.Remove(file)
		}
		return os.WriteFile(file, []byte(edited), 0o600)
	})
}
