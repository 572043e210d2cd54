// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/safeguard"
)

func TestWhatAClusterHasIsComparedWithTheArtifact(t *testing.T) {
	const apiVersion, kind = "apps.kubermatic.k8c.io/v1", "ApplicationDefinition"
	argocd := safeguard.Definition{APIVersion: apiVersion, Kind: kind, Name: "argocd", Versions: []string{"2.13.0", "2.14.0"}}
	web := safeguard.Definition{APIVersion: "helm.toolkit.fluxcd.io/v2", Kind: "HelmRelease", Namespace: "apps", Name: "web", Instance: "web", Versions: []string{"1.0.0"}}
	rendered := render.Artifact{Result: &render.Result{Definitions: []safeguard.Definition{argocd, web}}}
	january := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		edit     func(k *receipt.Kustomization, d *receipt.Definition, r *receipt.Receipt)
		artifact render.Artifact
		err      error
		noURL    bool
		want     []Problem
	}{
		"the same":                               {},
		"versions in another order are the same": {edit: func(_ *receipt.Kustomization, d *receipt.Definition, _ *receipt.Receipt) { slices.Reverse(d.Versions) }},
		"other versions": {edit: func(_ *receipt.Kustomization, d *receipt.Definition, _ *receipt.Receipt) {
			d.Versions = []string{"2.12.0"}
		},
			want: []Problem{{differing, "argocd has 2.12.0 instead of 2.13.0, 2.14.0"}}},
		"a bypass with the same versions": {edit: func(_ *receipt.Kustomization, d *receipt.Definition, _ *receipt.Receipt) { d.Bypassed = true },
			want: []Problem{{bypassed, "argocd since unknown"}}},
		"a bypass with other versions": {edit: func(_ *receipt.Kustomization, d *receipt.Definition, _ *receipt.Receipt) {
			d.Bypassed, d.BypassedSince, d.Versions = true, &january, nil
		}, want: []Problem{{bypassed, "argocd since 2026-01-02 has no versions instead of 2.13.0, 2.14.0"}}},
		"an object that is not in the inventory": {edit: func(k *receipt.Kustomization, _ *receipt.Definition, _ *receipt.Receipt) { k.Objects = k.Objects[:1] },
			want: []Problem{{differing, "web is not applied"}}},
		"a definition that was deleted": {edit: func(_ *receipt.Kustomization, _ *receipt.Definition, r *receipt.Receipt) { r.Definitions = nil },
			want: []Problem{{differing, "argocd is deleted"}}},
		"a definition that may be beyond the bounds": {edit: func(_ *receipt.Kustomization, _ *receipt.Definition, r *receipt.Receipt) {
			r.Definitions, r.Omitted = nil, 1
		}},
		"a receipt of an older winnow": {edit: func(k *receipt.Kustomization, d *receipt.Definition, _ *receipt.Receipt) {
			k.Objects, d.Versions = nil, d.Versions[:1]
		}, want: []Problem{{differing, "argocd has 2.13.0 instead of 2.13.0, 2.14.0"}, {unknown, "the receipt has no inventory: it is of an older winnow, or has too many objects"}}},
		"a Kustomization with patches": {edit: func(k *receipt.Kustomization, d *receipt.Definition, _ *receipt.Receipt) {
			k.Changes, d.Versions = []string{"namePrefix", "patches"}, nil
		}, want: []Problem{{unknown, "the Kustomization flux-system/applications has namePrefix, patches: it does not apply the artifact as it is"}}},
		"a Kustomization with more changes than there are": {edit: func(k *receipt.Kustomization, _ *receipt.Definition, _ *receipt.Receipt) {
			k.Changes = slices.Repeat([]string{"x"}, 10_000)
		}, want: []Problem{{unknown, "the Kustomization flux-system/applications has x, x, x, x, x and 9995 more: it does not apply the artifact as it is"}}},
		"an artifact that cannot be pulled": {err: errors.New("pulling oci://user:secret@registry.example.com/x: refused"),
			want: []Problem{{unknown, "pulling oci://***@registry.example.com/x: refused"}}},
		"an error that is cut in a password": {err: errors.New(strings.Repeat("x", 490) + " oci://user:" + strings.Repeat("secret", 10) + "@registry.example.com/x"),
			want: []Problem{{unknown, strings.Repeat("x", 490) + " oci://***@registry.ex..."}}},
		"a Kustomization that has another artifact": {edit: func(k *receipt.Kustomization, _ *receipt.Definition, _ *receipt.Receipt) { k.Digest = "sha256:2" },
			want: []Problem{{unknown, "its Kustomizations have applied different artifacts: wait until they have the same"}}},
		"an artifact of another tool": {artifact: render.Artifact{Other: "it has two layers"},
			want: []Problem{{unknown, "the artifact is none that Winnow has rendered: it has two layers"}}},
		"a stage without an address": {noURL: true, want: []Problem{{unknown, "stage.yaml has no spec.url: the artifact cannot be read"}}},
	} {
		t.Run(name, func(t *testing.T) {
			k := receipt.Kustomization{Namespace: "flux-system", Name: "applications", Digest: "sha256:1", Objects: []string{"_argocd_apps.kubermatic.k8c.io_ApplicationDefinition", "apps_web_helm.toolkit.fluxcd.io_HelmRelease"}}
			d := receipt.Definition{APIVersion: apiVersion, Kind: kind, Name: "argocd", Versions: []string{"2.13.0", "2.14.0"}}
			r := &receipt.Receipt{}
			r.Definitions = []receipt.Definition{d}
			if test.edit != nil {
				test.edit(&k, &r.Definitions[0], r)
			}
			of := stages.Placed{Stage: stagefile.Stage{URL: "oci://registry.example.com/x"}, File: "stage.yaml"}
			if test.noURL {
				of.URL = ""
			}
			c := &Cluster{Digest: "sha256:1", Receipt: r, kustomizations: []receipt.Kustomization{k}}
			all := []*Cluster{c, {Digest: "sha256:2", Wanted: "sha256:1", Receipt: r}, {Digest: "sha256:3"}}
			err := compareContents(t.Context(), of, all, promotions.NewRegistry(func(_ context.Context, address string, _ bool) (render.Artifact, error) {
				if address != "oci://registry.example.com/x@sha256:1" {
					t.Errorf("%s is pulled", address)
				}
				if test.artifact.Other != "" {
					return test.artifact, nil
				}
				return rendered, test.err
			}))
			if err != nil || !slices.Equal(c.Problems, test.want) {
				t.Errorf("%v: %+v\nwant %+v", err, c.Problems, test.want)
			}
		})
	}
}
