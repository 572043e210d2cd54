// SPDX-License-Identifier: Apache-2.0

package selections

import (
	"strings"
	"testing"
)

// Two Kustomizations have had an OCIRepository of one name for a year. The report has a note on that; no change of another file
// passes the check all the same.
func TestTwoOCIRepositoriesThatStayTheSameStopNobody(t *testing.T) {
	sync := fluxSystem(ownURL, "branch: main") + ofFlux("one", "one", "") + ofFlux("two", "two", "") + consuming("apps", "")
	base, head := commits(t, map[string]string{syncOfA: sync, "one/apps.yaml": spoke("v1", ""), "two/apps.yaml": spoke("v2", ""), "other.yaml": emptyMap},
		map[string]string{"other.yaml": strings.Replace(emptyMap, "nothing", "something", 1)})
	report, err := Compare(t.Context(), base, head, Options{Paths: []string{"."}, OpenRendered: (&artifactsOf{}).open, Compare: compareSides})
	if err != nil {
		t.Fatal(err)
	}
	if found := report.Trips([]string{"held", "unknown"}); len(found) > 0 {
		t.Errorf("the check fails: %q", found)
	}
}
