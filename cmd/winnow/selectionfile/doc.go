// SPDX-License-Identifier: Apache-2.0

// Package selectionfile reads CatalogSelections from YAML as the API server does: strictly, checked with the schema and
// the CEL rules of their CustomResourceDefinition, and with its defaults. It also applies the checks of the controller,
// so that a selection without violations can be rendered, and reports the line of each violation. It must not know
// clusters nor catalogs.
package selectionfile
