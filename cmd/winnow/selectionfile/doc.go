// Package selectionfile reads CatalogSelections from YAML as the API server reads them: strictly,
// checked by the schema and the CEL rules of their CustomResourceDefinition, and with its defaults. It
// also asks what the controller asks afterwards, so that a selection which is read can be rendered,
// and says in which line something is wrong. It knows no cluster and no catalog.
package selectionfile
