// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"context"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/promotions"
)

// A patch of the Kustomization drops the first version. The new artifact has the same versions in another order, so that Flux
// removes a version that runs. That is a note, with a green check.
func TestPatchesOfTheKustomizationOfAStageAreUnknown(t *testing.T) {
	apps := consuming("apps", "  prune: true\n  patches: [{patch: '[{\"op\": \"remove\", \"path\": \"/spec/versions/0\"}]', target: {name: argocd}}]\n")
	base, head := commits(t, map[string]string{stageInGit: spoke("one", "") + apps}, map[string]string{stageInGit: spoke("two", "") + apps})
	open := func(ctx context.Context, address string, _ bool) (promotions.Artifact, error) {
		applications := "argocd=1,2,3"
		if strings.HasSuffix(address, digestOf("two")) {
			applications = "argocd=3,2,1,4"
		}
		result, err := artifactWith(ctx, applications)
		return promotions.Artifact{Result: result}, err
	}
	report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, OpenRendered: open, Compare: compareSides})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Trips([]string{"held", "unknown"})) == 0 {
		t.Errorf("it passes the check: %s", strings.Join(promoted(report), "\n"))
	}
}
