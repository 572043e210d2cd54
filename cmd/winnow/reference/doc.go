// SPDX-License-Identifier: Apache-2.0

// Package reference writes the reference of the command line and the schemas of its documents. It must not know a verb, and
// is no part of the released program.
package reference
