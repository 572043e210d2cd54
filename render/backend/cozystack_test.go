// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
)

// What Cozystack's API server writes for an application of a definition that says nothing else.
const cozystackRelease = `
chartRef: {kind: ExternalArtifact, name: web, namespace: cozy-system}
interval: 5m0s
maxHistory: 5
install: {timeout: 10m0s, strategy: {name: RetryOnFailure, retryInterval: 30s}}
upgrade: {timeout: 10m0s, strategy: {name: RetryOnFailure, retryInterval: 30s}, chartNameChangeStrategy: InPlaceUpdate}
valuesFrom: [{kind: Secret, name: cozystack-values}]
releaseName: web-db
targetNamespace: apps
storageNamespace: apps
`

func TestReleasesAreThoseOfCozystacksAPIServer(t *testing.T) {
	const prefix = "release.cozystack.io/"
	timeouts := func(install, upgrade string) string {
		return "install: {timeout: " + install + ", strategy: {name: RetryOnFailure, retryInterval: 30s}}\n" +
			"upgrade: {timeout: " + upgrade + ", strategy: {name: RetryOnFailure, retryInterval: 30s}, chartNameChangeStrategy: InPlaceUpdate}\n"
	}
	applied := func(install, upgrade string) string {
		return "install: {timeout: 10m0s, strategy: {name: RetryOnFailure, retryInterval: 30s}" + install + "}\n" +
			"upgrade: {timeout: 10m0s, strategy: {name: RetryOnFailure, retryInterval: 30s}, chartNameChangeStrategy: InPlaceUpdate" + upgrade + "}\n"
	}
	for _, test := range []struct {
		name        string
		annotations map[string]string
		release     string
		change      func(*backend.Instance)
		want        string
	}{
		{"nothing said", nil, "", nil, ""},
		{"the timeout of an installation, which is that of upgrades too", map[string]string{"helm-install-timeout": "15m"}, "", nil, timeouts("15m0s", "15m0s")},
		{"another timeout of upgrades", map[string]string{"helm-install-timeout": "15m", "helm-upgrade-timeout": "1h"}, "", nil, timeouts("15m0s", "1h0m0s")},
		{"a timeout of upgrades alone", map[string]string{"helm-upgrade-timeout": "1h"}, "", nil, timeouts("10m0s", "1h0m0s")},
		{"a timeout of the instance", map[string]string{"helm-install-timeout": "15m", "helm-upgrade-timeout": "1h"}, "",
			func(i *backend.Instance) { i.Timeout = time.Minute }, timeouts("1m0s", "1m0s") + "timeout: 1m0s\n"},
		{"an interval of the instance", nil, "", func(i *backend.Instance) { i.Interval = time.Hour }, "interval: 1h0m0s\n"},
		{"no wait", map[string]string{"helm-install-disable-wait": " True"}, "", nil, applied(", disableWait: true", ", disableWait: true")},
		{"empty annotations", map[string]string{"helm-install-timeout": "", "helm-install-disable-wait": "", "helm-server-side-apply": ""}, "", nil, ""},
		{"client-side apply", map[string]string{"helm-server-side-apply": "Disabled"}, "", nil, applied(", serverSideApply: false", ", serverSideApply: disabled")},
		{"server-side apply", map[string]string{"helm-server-side-apply": "enabled"}, "", nil, applied(", serverSideApply: true", ", serverSideApply: enabled")},
		{"a strategy", nil, ", waitStrategy: legacy", nil, "waitStrategy: {name: legacy}\n"},
		{"health checks, which need the poller", nil, ", healthCheckExprs: [{apiVersion: v1, kind: Info, current: 'true'}]", nil,
			"waitStrategy: {name: poller}\nhealthCheckExprs: [{apiVersion: v1, kind: Info, current: 'true'}]\n"},
		{"health checks with a strategy", nil, ", waitStrategy: legacy, healthCheckExprs: [{apiVersion: v1, kind: Info, current: 'true'}]", nil,
			"waitStrategy: {name: legacy}\nhealthCheckExprs: [{apiVersion: v1, kind: Info, current: 'true'}]\n"},
		{"values of the instance over those of the platform", nil, "", func(i *backend.Instance) {
			i.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "own"}}
		}, "valuesFrom: [{kind: Secret, name: cozystack-values}, {kind: Secret, name: own}]\n"},
		{"an instance that names the values of the platform itself", nil, "", func(i *backend.Instance) {
			i.ValuesFrom = []v1alpha1.ValuesReference{{Kind: "Secret", Name: "own"}, {Kind: "Secret", Name: "cozystack-values", Optional: true}}
		}, "valuesFrom: [{kind: Secret, name: own}, {kind: Secret, name: cozystack-values, optional: true}]\n"},
		{"a definition that lists its values", nil, ", valuesFrom: [{kind: ConfigMap, name: all}]", nil, "valuesFrom: [{kind: ConfigMap, name: all}]\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			main := ofRole(t, build(t, backend.Helm, instanceOf(t, "cozystack.io/v1alpha1", "", func(i *backend.Instance) {
				i.Name, i.Application.Annotations = "db", map[string]string{}
				for name, value := range test.annotations {
					i.Application.Annotations[prefix+name] = value
				}
				if test.change != nil {
					test.change(i)
				}
			}, cozystackSpec+"  release: {prefix: web-, chartRef: {kind: ExternalArtifact, name: web, namespace: cozy-system}, labels: {internal.example.com/team: a}"+test.release+"}\n")), backend.Main)
			want := parse(t, cozystackRelease)
			maps.Copy(want, parse(t, test.want))
			if got := main.Object["spec"]; !reflect.DeepEqual(got, want) {
				t.Errorf("spec is\n%v\nwant\n%v", got, want)
			}
			labels := map[string]string{
				"internal.example.com/team":           "a",
				"apps.cozystack.io/application.kind":  "Web",
				"apps.cozystack.io/application.group": "apps.cozystack.io",
				"apps.cozystack.io/application.name":  "db",
			}
			if got := main.GetLabels(); !reflect.DeepEqual(got, labels) {
				t.Errorf("labels are %v", got)
			}
		})
	}
}

// The backend Helm is spec.release in another place, and the group of the definition says nothing.
func TestTheBackendOfTheProposalIsTheRelease(t *testing.T) {
	const fields = "{prefix: web-, labels: {a: b}, chartRef: {kind: ExternalArtifact, name: web, namespace: cozy-system}}"
	for _, name := range []string{backend.Helm, backend.CozystackApplication} {
		release := build(t, name, instanceOf(t, "cozystack.io/v1alpha1", "", nil, cozystackSpec+"  release: "+fields+"\n"))
		proposed := build(t, name, instanceOf(t, "apps.cozystack.io/v1alpha1", "", nil, cozystackSpec+"  backend: {type: Helm, helm: "+fields+"}\n"))
		if got, want := string(printed(t, proposed)), string(printed(t, release)); got != want {
			t.Errorf("%s makes\n%s, want\n%s", name, got, want)
		}
	}
	terraform := "  backend: {type: Terraform, terraform: {prefix: web-, sourceRef: {kind: Bucket, name: web}}}\n"
	main := ofRole(t, build(t, backend.Terraform, instanceOf(t, "apps.cozystack.io/v1alpha1", "", nil, cozystackSpec+terraform)), backend.Main)
	if main.GetName() != "web-web" {
		t.Errorf("the object of Terraform has the name %s", main.GetName())
	}
}
