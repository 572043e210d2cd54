// SPDX-License-Identifier: Apache-2.0

// Package guard decides which changes of a new render are held, why, and which checksums approve them:
// for the controller before it publishes, and for the command line in a pull request.
//
// It is pure. It must not know how the last publication was recorded, how sources are fetched or
// clusters read, nor how the controller holds a change.
package guard
