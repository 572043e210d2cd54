// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"io"
)

// cosign returns the build of cosign, which is built like a server.
func cosign() server {
	return server{
		name: "cosign", module: "cosign", pkg: "github.com/sigstore/cosign/v3/cmd/cosign",
		versionOf: "github.com/sigstore/cosign/v3", minutes: 4,
	}
}

// Cosign returns the path of cosign, with which the end-to-end tests sign catalogs. Like Build, it
// builds a missing binary and reports progress on out. No stack needs it.
func Cosign(ctx context.Context, out io.Writer) (string, error) {
	return buildTool(ctx, out, cosign())
}
