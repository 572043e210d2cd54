// SPDX-License-Identifier: Apache-2.0

// Package pull is winnow pull: it fetches a catalog from a registry into a directory.
package pull
