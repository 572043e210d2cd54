// SPDX-License-Identifier: Apache-2.0

// Package live works with the objects in a cluster. It reads definitions, and adds to a comparison what they lose, and
// which of them Flux does not update. It reads CatalogSelections, asks the controllers to reconcile them and their
// sources, and suspends them; it writes nothing else. It must not know the origin of the compared states, nor how
// anything is shown.
package live
