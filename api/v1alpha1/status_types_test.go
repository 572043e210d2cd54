// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// kubectl prints fields in the order of their names: the record must not come between the readable ones.
func TestTheRecordIsTheLastFieldOfTheStatus(t *testing.T) {
	var fields []string
	status := reflect.TypeFor[v1alpha1.CatalogSelectionStatus]()
	for field := range status.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			fields = append(fields, name)
		}
	}
	if got := slices.Max(fields); got != "writtenRecord" || fields[len(fields)-1] != got {
		t.Errorf("the last field is %s", got)
	}
}
