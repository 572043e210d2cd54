// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"io"
)

// opm returns the build of opm, which is built like a server.
func opm() server {
	const module = "github.com/operator-framework/operator-registry"
	return server{
		name: "opm", module: "opm", pkg: module + "/cmd/opm",
		versionOf:   module,
		versionVars: []string{module + "/cmd/opm/version.opmVersion"},
		tags:        "json1,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper,containers_image_openpgp", minutes: 2,
	}
}

// Opm returns the path of opm, the reference for file-based catalogs. Like Build, it builds a missing binary and
// reports progress on out.
func Opm(ctx context.Context, out io.Writer) (string, error) {
	return buildTool(ctx, out, opm())
}

// BuiltOpm returns the path of opm, or an empty string if it is not built.
func BuiltOpm(ctx context.Context) (string, error) {
	return builtTool(ctx, opm())
}
