// Modules whose CustomResourceDefinitions the tests check objects against. No program is built of them,
// so the module has no tool directive, and go mod tidy would empty it.
module github.com/winnow-dev/winnow/test/tools/crds

go 1.26.0

require (
	github.com/flux-iac/tofu-controller v0.16.5
	github.com/operator-framework/api v0.37.0
	github.com/operator-framework/operator-controller v1.11.0
)
