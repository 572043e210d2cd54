// SPDX-License-Identifier: Apache-2.0

package reserved_test

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/reserved"
)

func TestOwnerOf(t *testing.T) {
	for key, want := range map[string]reserved.Owner{
		"config.kubernetes.io/local-config":             reserved.Kustomize,
		"internal.config.kubernetes.io/needsHashSuffix": reserved.Kustomize,
		"alpha.config.kubernetes.io/transformations":    reserved.Kustomize,
		"config.k8s.io/id":                              reserved.Kustomize,
		"kustomize.config.k8s.io/behavior":              reserved.Kustomize,
		"kustomize.toolkit.fluxcd.io/prune":             reserved.Flux,
		"kustomize.toolkit.fluxcd.io/reconcile":         reserved.Flux,
		"catalog.winnow.dev/name":                       reserved.Winnow,
		"catalog.winnow.dev/tier":                       reserved.Winnow,
		"apps.kubermatic.k8c.io/managed-by":             reserved.KKP,
		"applicationcatalog.k8c.io/managed-by":          reserved.KKP,
		"apps.k8c.io/managed-by-external-manager":       reserved.KKP,
		"apps.k8c.io/application-bypass":                reserved.Admin,
		"":                                              "",
		"team":                                          "",
		"config.kubernetes.io":                          "",
		"myconfig.kubernetes.io/a":                      "",
		"a.catalog.winnow.dev/name":                     "",
		"apps.kubermatic.k8c.io/type":                   "",
		"app.kubernetes.io/managed-by":                  "",
		"sharding.fluxcd.io/key":                        "",
		"event.toolkit.fluxcd.io/change_request":        "",
		"reconcile.fluxcd.io/watch":                     "",
		"helm.toolkit.fluxcd.io/driftDetection":         "",
	} {
		for _, written := range []string{key, strings.ToUpper(key), strings.ToTitle(key[:len(key)/2]) + key[len(key)/2:]} {
			if got := reserved.OwnerOf(written); got != want {
				t.Errorf("OwnerOf(%q) = %q, want %q", written, got, want)
			}
		}
		if (reserved.OwnerOf(key).Reason() == "") != (want == "") {
			t.Errorf("%s of %q has the reason %q", key, want, reserved.OwnerOf(key).Reason())
		}
	}
}
