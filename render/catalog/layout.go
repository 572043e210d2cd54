// SPDX-License-Identifier: Apache-2.0

package catalog

// Names of the Applications format.
const (
	ApplicationsDirectory = "applications"
	ListsDirectory        = "catalogs"
	ApplicationFile       = "application.yaml"
	MetadataFile          = "metadata.yaml"
)
