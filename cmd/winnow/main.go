// SPDX-License-Identifier: Apache-2.0

// Command winnow works with catalogs of applications and with CatalogSelections on the command line, using the renderer
// of the controller, and with the CatalogSelections of a cluster.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/winnow-dev/winnow/cmd/winnow/root"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	code := root.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
