// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/cluster/consumers"
	"github.com/winnow-dev/winnow/controllers/record"
	"github.com/winnow-dev/winnow/render/safeguard"
)

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	e, _ := publishGuarded(t, "argocd:gold:2.0.0,1.0.0 nginx:gold", onlyGold, constrain(">=1"),
		func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.OmitFields = []string{}
			cs.Spec.Values = []v1alpha1.ValuesRule{{Names: []string{"nginx"}, Defaults: &apiextensionsv1.JSON{Raw: []byte(`{"b":1,"a":"<&>"}`)}}}
		})
	cs := e.get("kkp")
	got, err := record.Read(cs)
	if err != nil {
		t.Fatal(err)
	}
	source := e.source(applications(t, "argocd:gold:2.0.0,1.0.0 nginx:gold"))
	spec := cs.Spec
	spec.Interval, spec.Cluster = metav1.Duration{}, v1alpha1.Cluster{}
	spec.Safeguards = v1alpha1.Safeguards{}
	want := &record.Record{Spec: spec, Revisions: []string{consumers.RevisionOf(cs)}, URLs: []string{source.URL}, Definitions: []safeguard.Definition{
		{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: "argocd", Source: "catalog", Versions: []string{"2.0.0", "1.0.0"}},
		{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: "nginx", Source: "catalog", Versions: []string{"1.0.0"}},
	}}
	e.equal("record", got, want)
	if got.Spec.OmitFields == nil {
		t.Error("omitting nothing became the default")
	}
	again, err := got.Pack()
	if err != nil || !reflect.DeepEqual(again, cs.Status.WrittenRecord) {
		t.Errorf("packing again gives another record: %v", err)
	}
}

// realistic returns a catalog of n applications with realistic names and versions, all different.
func realistic(t *testing.T, n, versions int) []byte {
	t.Helper()
	words := strings.Fields("argo cert kube prometheus external ingress secrets velero istio harbor keycloak vault metrics gateway nginx " +
		"redis postgres kafka loki tempo falco trivy kyverno linkerd cilium calico longhorn rook minio dex")
	var b strings.Builder
	for i := range n {
		sum := sha256.Sum256(fmt.Append(nil, i))
		fmt.Fprintf(&b, "%s-%s-%d:gold:", words[int(sum[0])%len(words)], words[int(sum[1])%len(words)], i)
		for v := range versions {
			fmt.Fprintf(&b, "%d.%d.%d,", v+1, sum[2+v]%40, sum[9+v]%30)
		}
		b.WriteString("99.0.0 ")
	}
	return applications(t, b.String())
}

func TestCostOfTheStatusOfFiveThousandApplications(t *testing.T) {
	e := newEnvironment(t)
	e.source(realistic(t, 5000, 4))
	e.selection("kkp", guarded)
	good := e.good()
	e.fits(good.cs)
	if r, err := record.Read(good.cs); err != nil || len(r.Definitions) != 5000 {
		t.Fatalf("the record is not there: %v", err)
	}
	e.source(realistic(t, 2500, 4))
	cs := e.hold(good, "Removal")
	e.fits(cs)
	e.equal("total", cs.Status.Held.Total, 2500)
	if n := len(cs.Status.Held.Reasons); n == 0 || n > 40 {
		t.Errorf("%d reasons", n)
	}
}

func TestCostOfARecordThatIsTooLarge(t *testing.T) {
	noise := func(n int) string {
		var b strings.Builder
		for i := range n / 64 {
			fmt.Fprintf(&b, "%x", sha256.Sum256(fmt.Append(nil, i)))
		}
		return b.String()
	}
	// About the maximum number and length of the versions of a catalog.
	var long []string
	for all := range slices.Chunk([]byte(noise(3000*240)), 1000*240) {
		var versions []string
		for version := range slices.Chunk(all, 240) {
			versions = append(versions, "1.0.0-a"+string(version))
		}
		long = append(long, fmt.Sprintf("argocd%d::%s", len(long), strings.Join(versions, ",")))
	}
	huge, err := json.Marshal(map[string]string{"a": noise(500 << 10)})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		words []byte
		edit  specEdit
		lost  int
	}{
		{"huge values", applications(t, "argocd"), func(cs *v1alpha1.CatalogSelection) {
			cs.Spec.Values = []v1alpha1.ValuesRule{{Names: []string{"argocd"}, Overrides: &apiextensionsv1.JSON{Raw: huge}}}
		}, 1},
		{"long versions", applications(t, strings.Join(long, " ")), guarded, len(long)},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t)
			e.source(test.words)
			e.selection("kkp", guarded, test.edit)
			good := e.good()
			e.equal("record", good.cs.Status.WrittenRecord, (*v1alpha1.WrittenRecord)(nil))
			e.fits(good.cs)
			e.good()
			e.source(applications(t, "nginx"))
			cs := e.hold(good, "Removal")
			e.fits(cs)
			e.equal("total", cs.Status.Held.Total, test.lost)
			e.approve(cs.Status.Held.Approve...)
			e.good()
		})
	}
}
