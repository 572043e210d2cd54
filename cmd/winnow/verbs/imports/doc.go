// SPDX-License-Identifier: Apache-2.0

// Package imports is winnow import: it makes a catalog of definitions, of bundles of operators or of other catalogs, or instances
// of what runs. It must not replace a file.
package imports
