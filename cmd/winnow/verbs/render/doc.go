// SPDX-License-Identifier: Apache-2.0

// Package render is winnow render: it renders what a selection selects, as the controller does. It must not know a cluster.
package render
