// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

func TestAWarningIsSentOnceUntilItIsForgotten(t *testing.T) {
	events := record.NewFakeRecorder(10)
	a := &Access{Events: events}
	report := func(uid types.UID) int {
		cs := &v1alpha1.CatalogSelection{}
		cs.UID = uid
		a.ReportForbidden(t.Context(), cs, errors.New("no"), "nothing is marked")
		return len(events.Events)
	}
	for _, want := range []int{1, 1} {
		if got := report("x"); got != want {
			t.Fatalf("%d warnings are sent, want %d", got, want)
		}
	}
	report("other")
	a.Forget("x")
	if got := report("x"); got != 3 {
		t.Errorf("%d warnings are sent, want that of the forgotten selection again", got)
	}
	if got := report("other"); got != 3 {
		t.Errorf("%d warnings are sent, want none of the other selection", got)
	}
}
