// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/backends"
)

// deployed are the parts of main objects that state how an instance is deployed.
func deployed(main backend.Object) map[string]any {
	parts := map[string]any{}
	for _, name := range []string{"install", "upgrade", "timeout", "deployOptions", "remediation"} {
		if part, ok, _ := unstructured.NestedFieldNoCopy(main.Object, "spec", name); ok {
			parts[name] = part
		}
	}
	return parts
}

func TestHowAnInstanceIsDeployed(t *testing.T) {
	kkp := func(options string) string {
		if options != "" {
			options = "  defaultDeployOptions: {helm: {" + options + "}}\n"
		}
		return "\n  method: helm\n  versions:\n  - version: 1.0.0\n    template: {source: {helm: {url: \"https://x.example.com\", chartName: web, chartVersion: 1.0.0}}}\n" + options
	}
	release := func(action, more string) string {
		return "install: {" + action + "}\nupgrade: {" + action + ", chartNameChangeStrategy: InPlaceUpdate}\n" + more
	}
	atomic := func(retries string) string {
		return "strategy: {name: RemediateOnFailure}, remediation: {remediateLastFailure: true, retries: " + retries + "}"
	}
	const (
		retried   = "strategy: {name: RetryOnFailure}"
		module    = cozystackSpec + "  backend: {type: Terraform, terraform: {sourceRef: {kind: Bucket, name: a}}}\n"
		cozystack = cozystackSpec + "  release: {chartRef: {kind: HelmChart, name: a}}\n"
		unknown   = "leave it out"
	)
	refused := func(names ...string) (all []problem) {
		for _, name := range names {
			all = append(all, problem{"deploy." + name, unknown})
		}
		return all
	}
	minute := func(i *backend.Instance) { i.Timeout = minute }
	for _, test := range []struct {
		name, backend, spec string
		deploy              string
		change              func(*backend.Instance)
		want                string
		problems            []problem
	}{
		{"Helm: nothing", backend.Helm, kkp(""), "", nil, release(retried, ""), nil},
		{"Helm: what the definition says", backend.Helm, kkp("wait: true, atomic: true, timeout: 5m"), "", nil, release(atomic("5"), "timeout: 5m0s"), nil},
		{"Helm: all of it", backend.Helm, kkp(""), "wait: true, atomic: true, retries: 2", minute, release(atomic("2"), "timeout: 1m0s"), nil},
		{"Helm: atomic alone", backend.Helm, kkp(""), "atomic: true", nil, release(atomic("5"), ""), nil},
		{"Helm: atomic, where the definition does not wait", backend.Helm, kkp("wait: false"), "atomic: true", nil, release(atomic("5"), ""), nil},
		{"Helm: no retries", backend.Helm, kkp(""), "atomic: true, retries: 0", nil, release(atomic("0"), ""), nil},
		{"Helm: retries of an atomic definition", backend.Helm, kkp("wait: true, atomic: true"), "retries: 1", nil, release(atomic("1"), ""), nil},
		{"Helm: no wait", backend.Helm, kkp(""), "wait: false", nil, release(retried+", disableWait: true", ""), nil},
		{"Helm: a wait over that of the definition", backend.Helm, kkp("wait: false"), "wait: true", nil, release(retried, ""), nil},
		{"Helm: neither, over the definition", backend.Helm, kkp("wait: true, atomic: true"), "wait: false, atomic: false", nil, release(retried+", disableWait: true", ""), nil},
		{"Helm: atomic without a wait", backend.Helm, kkp(""), "wait: false, atomic: true", nil, "", []problem{{"deploy.wait", "set deploy.atomic to false"}}},
		{"Helm: an atomic definition without a wait", backend.Helm, kkp("wait: true, atomic: true"), "wait: false", nil, "", []problem{{"deploy.wait", "set deploy.atomic to false"}}},
		{"Helm: retries of a release that is not atomic", backend.Helm, kkp(""), "retries: 3", nil, "", []problem{{"deploy.retries", "set deploy.atomic to true"}}},
		{"Helm: negative retries", backend.Helm, kkp(""), "atomic: true, retries: -1", nil, "", []problem{{"deploy.retries", "at least 0"}}},
		{"Helm: a definition of Cozystack", backend.Helm, cozystack, "atomic: true, retries: 1", minute,
			release("timeout: 1m0s, "+atomic("1"), "timeout: 1m0s"), nil},

		{"KKP: nothing", backend.ApplicationInstallation, kkp("wait: true, timeout: 5m"), "", nil, "{}", nil},
		{"KKP: all of it", backend.ApplicationInstallation, kkp(""), "wait: true, atomic: true", minute, "deployOptions: {helm: {wait: true, timeout: 1m0s, atomic: true}}", nil},
		{"KKP: atomic alone", backend.ApplicationInstallation, kkp(""), "atomic: true", nil, "deployOptions: {helm: {wait: true, atomic: true}}", nil},
		{"KKP: the rest of the definition is repeated", backend.ApplicationInstallation, kkp("wait: true, timeout: 5m, enableDNS: true"), "atomic: true", nil,
			"deployOptions: {helm: {wait: true, timeout: 5m0s, atomic: true, enableDNS: true}}", nil},
		{"KKP: no wait, and no timeout of one", backend.ApplicationInstallation, kkp("wait: true, timeout: 5m"), "wait: false", nil, "deployOptions: {helm: {wait: false}}", nil},
		{"KKP: a timeout without a wait", backend.ApplicationInstallation, kkp("wait: true"), "wait: false", minute, "", []problem{{"timeout", "deploy.wait"}}},
		{"KKP: an atomic definition without a wait", backend.ApplicationInstallation, kkp("wait: true, atomic: true"), "wait: false", nil, "", []problem{{"deploy.wait", "deploy.atomic"}}},
		{"KKP: retries", backend.ApplicationInstallation, kkp(""), "atomic: true, retries: 1", nil, "", refused("retries")},

		{"Terraform: nothing", backend.Terraform, module, "", nil, "{}", nil},
		{"Terraform: retries", backend.Terraform, module, "retries: 3", nil, "remediation: {retries: 3}", nil},
		{"Terraform: no retries", backend.Terraform, module, "retries: 0", nil, "remediation: {retries: 0}", nil},
		{"Terraform: the rest", backend.Terraform, module, "wait: true, atomic: false", nil, "", refused("wait", "atomic")},

		{"Cozystack: all of it", backend.CozystackApplication, cozystack, "wait: true, atomic: true, retries: 0", nil, "", refused("wait", "atomic", "retries")},
		{"OLM v1: all of it", backend.ClusterExtension, "", "wait: true, atomic: true, retries: 0", nil, "", refused("atomic", "retries", "wait")},
		{"OLM v0: all of it", backend.Subscription, "", "wait: true, atomic: true, retries: 0", nil, "", refused("atomic", "retries", "wait")},
	} {
		t.Run(test.name, func(t *testing.T) {
			change := func(i *backend.Instance) {
				i.Deploy = deploy(t, test.deploy)
				if test.change != nil {
					test.change(i)
				}
			}
			instance := packageInstance(t, change)
			switch test.backend {
			case backend.Helm, backend.ApplicationInstallation:
				if test.spec != cozystack {
					instance = instanceOf(t, "apps.kubermatic.k8c.io/v1", "1.0.0", change, test.spec)
					break
				}
				fallthrough
			case backend.Terraform, backend.CozystackApplication:
				instance = instanceOf(t, "cozystack.io/v1alpha1", "", change, test.spec)
			}
			objects, err := backends.Named(test.backend).Build(instance)
			if test.problems != nil {
				checkProblems(t, err, test.problems...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := parse(t, test.want)
			if got := deployed(ofRole(t, objects, backend.Main)); !reflect.DeepEqual(got, want) {
				t.Errorf("it is deployed as\n%v\nwant\n%v", got, want)
			}
		})
	}
}

// deploy reads how an instance is deployed.
func deploy(t *testing.T, text string) v1alpha1.Deploy {
	t.Helper()
	var d v1alpha1.Deploy
	for name, value := range parse(t, "{"+text+"}") {
		switch name {
		case "wait":
			d.Wait = new(value.(bool))
		case "atomic":
			d.Atomic = new(value.(bool))
		default:
			d.Retries = new(int32(value.(int64)))
		}
	}
	return d
}
