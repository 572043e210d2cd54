// SPDX-License-Identifier: Apache-2.0

// Package objectmeta checks the metadata that an object of a catalog has: its fields, labels and annotations.
//
// It must not know the rest of the object.
package objectmeta
