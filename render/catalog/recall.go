// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"encoding/json"
	"fmt"
)

// Applications of records, which have the content of a catalog that is gone.

// Recall returns an application with the content of a record, as far as Content.Record keeps it.
func Recall(kind string, record json.RawMessage) (*Application, error) {
	switch kind {
	case PackageKind:
		return recallPackage(record)
	case FunctionKind:
		return recallFunction(record)
	}
	return nil, fmt.Errorf("no content of an application is of the kind %q", kind)
}

// IsKnown reports whether the application has the content that its kind has. One of a record may lack it.
func (a *Application) IsKnown() bool {
	return a.Content != nil || a.Kind != PackageKind && a.Kind != FunctionKind
}
