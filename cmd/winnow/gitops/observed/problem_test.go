// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
)

// A cluster is healthy only with a digest, also where its stage follows a tag, and with one digest for all its Kustomizations.
func TestTheDigestOfACluster(t *testing.T) {
	kustomization := func(digest string) receipt.Kustomization {
		return receipt.Kustomization{Source: "flux-system/applications", Digest: digest, Ready: metav1.ConditionTrue}
	}
	for name, test := range map[string]struct {
		wanted  string
		digests []string
		want    []Problem
	}{
		"the digest in Git":                    {"sha256:1", []string{"sha256:1", "sha256:1"}, nil},
		"none, and Git has one":                {"sha256:1", []string{""}, []Problem{{behind, "nothing is applied yet"}}},
		"none, and Git has a tag":              {"", []string{""}, []Problem{{behind, "nothing is applied yet"}}},
		"none in the second one, with a tag":   {"", []string{"sha256:1", ""}, []Problem{{behind, "nothing is applied yet"}}},
		"a tag":                                {"", []string{"sha256:1", "sha256:1"}, nil},
		"the second one runs an older digest":  {"sha256:2", []string{"sha256:2", "sha256:1"}, []Problem{{behind, "runs a digest that Git has named before sha256:2"}}},
		"the second one runs a foreign digest": {"sha256:2", []string{"sha256:1", "sha256:3", "sha256:2", ""}, []Problem{{foreign, "runs a digest that Git has not named for this stage"}}},
	} {
		t.Run(name, func(t *testing.T) {
			of := stages.Placed{Stage: stagefile.Stage{Namespace: "flux-system", Name: "applications", Digest: test.wanted}}
			c := &Cluster{Wanted: test.wanted}
			r := &receipt.Receipt{}
			for _, digest := range test.digests {
				r.Kustomizations = append(r.Kustomizations, kustomization(digest))
			}
			c.read(r, of, time.Time{}, time.Hour)
			err := nameDigests([]*Cluster{c}, false, func(map[string]bool) (map[string]bool, error) { return map[string]bool{"sha256:1": true}, nil })
			if err != nil || !slices.Equal(c.Problems, test.want) {
				t.Errorf("%v: %+v\nwant %+v", err, c.Problems, test.want)
			}
		})
	}
}
