// Command winnow works with catalogs of applications and with CatalogSelections on the command
// line, through the same renderer as the controller, and with the CatalogSelections of a cluster.
package main

import (
	"context"
	"fmt"
	"io"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/render/diff"
)

// Exit codes. isFinding distinguishes the last two.
const (
	exitOK       = 0
	exitFindings = 1 // the input is invalid, or has what the verb looks for
	exitFailed   = 2 // usage or input/output
)

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	// client-go logs errors that it returns as well.
	err := root.ExecuteContext(logr.NewContext(ctx, logr.Discard()))
	if err == nil {
		return exitOK
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "winnow: interrupted")
	case isFinding(err):
		printError(stderr, err)
		return exitFindings
	default:
		printError(stderr, err)
	}
	return exitFailed
}

// documents returns an empty document of each kind that -o json prints. docs/schemas has their schemas.
func documents() []any {
	return []any{newLintReport(), &applicationList{document: newDocument("ApplicationList")},
		&decisionList{document: newDocument("DecisionList")}, &explanation{document: newDocument("Explanation")},
		&instanceExplanation{document: newDocument("InstanceExplanation")},
		&shownApplication{document: newDocument("ApplicationReport")}, diff.New(), thisVersion(), &pushResult{document: newDocument("PushResult")}}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "winnow",
		Short: "Select applications from a catalog and render what Flux applies",
		Long: "Winnow selects applications from a catalog and renders them for Flux to apply.\n\n" +
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest].\n" +
			"Exit codes: 0 done, 1 a finding about the input, 2 usage or I/O; each verb's\n" +
			"help tells what it finds.",
		Example: "  # what is wrong with a catalog, and what it has\n" +
			"  winnow lint ./catalog\n" +
			"  winnow list ./catalog\n\n" +
			"  # what a cluster would get of it\n" +
			"  winnow render -f selection.yaml --source ./catalog\n\n" +
			"  # what a cluster has, and what it holds\n" +
			"  winnow get -A\n" +
			"  winnow approve applications -n flux-system",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          rootArguments,
		Version:       buildVersion(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate(thisVersion().line())
	root.Flags().Bool("version", false, "print the version, as winnow version does") // cobra's own has the shorthand -v
	root.PersistentFlags().BoolP(quietFlag, "q", false, "print no notes and progress, only errors")
	root.PersistentFlags().Bool("no-color", false, "accepted for scripts: no output has colour")
	root.AddCommand(newLintCommand(), newListCommand(), newExplainCommand(), newShowCommand(), newRenderCommand(),
		newDiffCommand(), newPushCommand(), newPullCommand(), newInitCommand(), newImportCommand(),
		newVersionCommand(), newCompletionCommand())
	root.SetHelpCommand(newHelpCommand())
	root.AddCommand(newGetCommand(), newReconcileCommand(), newSuspendCommand(), newResumeCommand(), newApproveCommand())
	return root
}
