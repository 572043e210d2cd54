// SPDX-License-Identifier: Apache-2.0

// Package expression compiles and evaluates expressions over applications, in the Common Expression Language. fields.go
// lists what they read.
//
// It must not know what an expression decides.
package expression
