// SPDX-License-Identifier: Apache-2.0

// Package guard decides which losses of a new publication are held, why, and which lines name them: for the controller
// before it publishes, and for the command line in a pull request. A publication loses nothing that Git has not named.
//
// It is pure. It must not know catalogs, edits of a spec or how the last publication was recorded, how clusters are read, nor
// how the controller holds a change.
package guard
