//go:build e2e && cgo

package e2e

func init() { buildFlags = []string{"-race"} }
