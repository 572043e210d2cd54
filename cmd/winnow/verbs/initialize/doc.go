// SPDX-License-Identifier: Apache-2.0

// Package initialize is winnow init: it writes a catalog to start from. It must not replace a file.
package initialize
