// Command winnow works with catalogs of applications and with CatalogSelections on the command
// line, without a cluster, through the same renderer as the controller.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/render"
)

// Exit codes. See also render.Error, which makes the difference between the latter two.
const (
	exitOK       = 0
	exitFindings = 1 // the input is readable, but there is something wrong with it
	exitFailed   = 2 // usage or input/output
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "winnow: %v\n", err)
	var finding *render.Error
	if errors.As(err, &finding) {
		return exitFindings
	}
	return exitFailed
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "winnow",
		Short: "Select applications from a catalog and render what Flux applies",
		Long: "Winnow selects applications from a catalog and renders them as Flux applies them.\n\n" +
			"A CATALOG is a directory, a .tar.gz file, or oci://host/repository[:tag|@digest].\n" +
			"Exit codes: 0 done; 1 something is wrong with the input; 2 usage or input/output.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newRenderCommand(), newVersionCommand())
	return root
}
