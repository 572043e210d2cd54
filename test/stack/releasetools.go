// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"io"
)

// helmCommand returns the build of the command line of Helm, which is built like a server.
func helmCommand() server {
	return helm("helm", "helm.sh/helm/v4", 2)
}

func helm(name, of string, minutes int) server {
	return server{name: name, module: name + "-cli", pkg: of + "/cmd/helm", versionOf: of, minutes: minutes}
}

// Helm returns the path of Helm, with which releases pack and push the chart. Like Build, it builds a missing binary and
// reports progress on out. No stack needs it.
func Helm(ctx context.Context, out io.Writer) (string, error) {
	return buildTool(ctx, out, helmCommand())
}

// BuiltHelm returns the path of Helm, or an empty string if it is not built.
func BuiltHelm(ctx context.Context) (string, error) {
	return builtTool(ctx, helmCommand())
}

// helm3Command returns the build of the command line of Helm 3, by whose rules KKP installs.
func helm3Command() server {
	return helm("helm3", "helm.sh/helm/v3", 1)
}

// Helm3 returns the path of Helm 3, as Helm does.
func Helm3(ctx context.Context, out io.Writer) (string, error) {
	return buildTool(ctx, out, helm3Command())
}

// BuiltHelm3 returns the path of Helm 3, or an empty string if it is not built.
func BuiltHelm3(ctx context.Context) (string, error) {
	return builtTool(ctx, helm3Command())
}

// goreleaser returns the build of goreleaser, which is built like a server.
func goreleaser() server {
	return server{
		name: "goreleaser", module: "goreleaser", pkg: "github.com/goreleaser/goreleaser/v2",
		versionOf: "github.com/goreleaser/goreleaser/v2", minutes: 5,
	}
}

// Goreleaser returns the path of goreleaser, which makes the archives of releases, as Helm does.
func Goreleaser(ctx context.Context, out io.Writer) (string, error) {
	return buildTool(ctx, out, goreleaser())
}
