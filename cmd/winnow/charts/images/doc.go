// SPDX-License-Identifier: Apache-2.0

// Package images finds the images that rendered manifests refer to. It must not know charts nor mirrors.
package images
