// SPDX-License-Identifier: Apache-2.0

//go:build e2e && cgo

package e2e

func init() { buildFlags = []string{"-race"} }
