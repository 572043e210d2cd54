// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// While another selection may be about to claim what leaves one, that one waits and says so. Once no other selection may, Flux deletes it.
func TestAGiverWaitsForASelectionThatIsNotEvaluated(t *testing.T) {
	e := newEstate(t, "placed", catalogOf("placed"))
	e.commit([]string{e.selecting("apps"), e.applying("apps", "apps")})
	before := e.awaitParts(part{"apps", "apps", []string{"placed-a", "placed-b", "placed-c"}})
	later := strings.Replace(e.selecting("later", limitedTo("placed-b")), "sources: [{name: placed}]", "sources: [{name: none}]", 1)
	e.commit([]string{e.selecting("apps", "exclude: [placed-b]"), later})
	e.of("apps").awaitSelection("waits", func(cs *v1alpha1.CatalogSelection) error {
		message := conditions.GetMessage(cs, meta.ReadyCondition)
		if conditions.GetReason(cs, meta.ReadyCondition) != v1alpha1.HandoverReason || !strings.Contains(message, "placed/later") {
			return fmt.Errorf("Ready says %q", message)
		}
		return nil
	})
	e.assertSameObjects(before, e.uids())

	e.commit(nil, e.selectionOf("later"))
	e.await("deleted", func(ctx context.Context) error {
		live, err := e.definitions(ctx)
		if _, lives := live["placed-b"]; err != nil || lives {
			return errors.Join(err, errors.New("placed-b lives"))
		}
		return nil
	})
	e.awaitParts(part{"apps", "apps", []string{"placed-a", "placed-c"}})
}
