// SPDX-License-Identifier: Apache-2.0

// Package version is winnow version: it prints the version of the running program.
package version
