// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/parallel"
)

// What a catalog makes panic is a violation of that catalog. Only the log has the stack.
func TestAPanicIsReportedWithoutItsStack(t *testing.T) {
	err := fmt.Errorf("rendering: %w", &render.Error{Code: v1alpha1.InvalidCatalogReason, Source: "ns/catalog", Err: parallel.NewPanic("index out of range")})
	o := decide(err, &v1alpha1.CatalogSelection{}, true)
	if o.reason != v1alpha1.InvalidCatalogReason || !o.stalled || o.retry == backoff {
		t.Errorf("decide() = %+v", o)
	}
	if !strings.Contains(o.message, "index out of range") || strings.Contains(o.message, "goroutine") {
		t.Errorf("the message is %q", o.message)
	}
	if logged := fmt.Sprint(stackOf(err)...); !strings.Contains(logged, "panics_test.go") {
		t.Errorf("logged %q", logged)
	}
	if logged := stackOf(errUnchanged); logged != nil {
		t.Errorf("logged %q", logged)
	}
}
