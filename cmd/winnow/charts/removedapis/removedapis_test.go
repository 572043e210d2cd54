// SPDX-License-Identifier: Apache-2.0

package removedapis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes/scheme"
)

// unguided are the kinds that nobody keeps in a manifest: the guide does not list them.
var unguided = []string{"ControllerRevision", "ConversionReview", "DeploymentRollback", "Eviction", "Scale", "SelfSubjectReview"}

// The types of Kubernetes have the releases that remove them, as far as their Go types are left. Versions that a flag has to turn on
// are not in the table: alphas, and betas since 1.24.
func TestTheTableIsThatOfKubernetes(t *testing.T) {
	got := map[string]uint{}
	for _, api := range table {
		for _, kind := range api.Kinds {
			got[api.Version+" "+kind] = api.Minor
		}
	}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		object, err := scheme.Scheme.New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		removed, isRemoved := object.(interface{ APILifecycleRemoved() (int, int) })
		introduced, isDated := object.(interface{ APILifecycleIntroduced() (int, int) })
		if !isRemoved || !isDated || strings.HasSuffix(gvk.Kind, "List") || strings.Contains(gvk.Version, "alpha") || slices.Contains(unguided, gvk.Kind) {
			continue
		}
		name := gvk.GroupVersion().String() + " " + gvk.Kind
		_, since := introduced.APILifecycleIntroduced()
		_, minor := removed.APILifecycleRemoved()
		if byFlag := since >= 24 && gvk.Group != "flowcontrol.apiserver.k8s.io"; !byFlag && got[name] != uint(minor) {
			t.Errorf("%s is removed in 1.%d; the table has 1.%d", name, minor, got[name])
		}
	}
}

func TestObjects(t *testing.T) {
	const cronJob, pdb = "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\n", "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: b}\n"
	for _, test := range []struct{ name, manifest, kubernetes, want string }{
		{"an object", cronJob, "1.25.0", "batch/v1beta1 CronJob a, use batch/v1 since 1.25"},
		{"a later release", cronJob, "v1.36.2+k3s1", "batch/v1beta1 CronJob a, use batch/v1 since 1.25"},
		{"an earlier release", cronJob, "1.24.17", ""},
		{"another version", "apiVersion: batch/v1\nkind: CronJob\n", "1.36.0", ""},
		{"another kind", "apiVersion: batch/v1beta1\nkind: Job\n", "1.36.0", ""},
		{"several documents", cronJob + "---\n# nothing\n---\n" + pdb, "1.25.0", "batch/v1beta1 CronJob a, use batch/v1 since 1.25; policy/v1beta1 PodDisruptionBudget b, use policy/v1 since 1.25"},
		{"a list", "kind: List\nitems:\n- {apiVersion: policy/v1beta1, kind: PodSecurityPolicy, metadata: {name: c}}\n- 1\n", "1.25.0", "policy/v1beta1 PodSecurityPolicy c, use  since 1.25"},
		{"no object", "- a\n", "1.25.0", ""},
		{"a manifest that is not valid", cronJob + "---\na: [", "1.25.0", "batch/v1beta1 CronJob a, use batch/v1 since 1.25; error"},
		{"too many values", strings.Repeat("- 1\n", maxValues), "1.25.0", "error"},
		{"aliases", "a: &a [b, b, b, b, b, b, b, b, b]\n" + strings.Repeat("- *a\n", 3), "1.25.0", "error"},
		{"deep", "a: " + strings.Repeat("[", 500) + strings.Repeat("]", 500), "1.25.0", "error"},
		{"no version", cronJob, "latest", "error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, err := Objects(test.manifest, test.kubernetes)
			var got []string
			for _, o := range all {
				got = append(got, fmt.Sprintf("%s %s %s, use %s since 1.%d", o.Version, o.Kind, o.Name, o.Instead, o.Minor))
			}
			if err != nil {
				got = append(got, "error")
			}
			if text := strings.Join(got, "; "); text != test.want {
				t.Errorf("Objects() = %s (%v), want %s", text, err, test.want)
			}
		})
	}
}

func TestServes(t *testing.T) {
	for _, test := range []struct {
		apiVersion string
		minor      uint
		want       bool
	}{
		{"policy/v1beta1", 24, true}, {"policy/v1beta1", 25, false}, {"policy/v1", 36, true}, {"storage.k8s.io/v1beta1", 26, true},
		{"storage.k8s.io/v1beta1", 27, false}, {"example.com/v1", 36, true},
	} {
		if got := Serves(test.apiVersion, version.MajorMinor(1, test.minor)); got != test.want {
			t.Errorf("Serves(%s, 1.%d) = %t", test.apiVersion, test.minor, got)
		}
	}
}
