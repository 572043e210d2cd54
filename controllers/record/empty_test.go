// SPDX-License-Identifier: Apache-2.0

package record

import (
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
)

// A publication without anything is the baseline of the next one.
func TestARecordOfNothingIsRead(t *testing.T) {
	cs := &v1alpha1.CatalogSelection{}
	packed, err := New(cs, Publication{Result: &render.Result{Revision: "latest@sha256:0"}}).Pack()
	if err != nil {
		t.Fatal(err)
	}
	cs.Status.WrittenRecord = packed
	if r, err := Read(cs); err != nil || len(r.Published()) > 0 {
		t.Errorf("it is read as %+v: %v", r, err)
	}
}
