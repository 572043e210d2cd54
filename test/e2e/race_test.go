// SPDX-License-Identifier: Apache-2.0

//go:build e2e && cgo

package e2e

// The tag as in the Makefile, so that the packages of the tests are compiled for the controller as well.
func init() { buildFlags = []string{"-race", "-tags=kustomize_disable_go_plugin_support"} }
