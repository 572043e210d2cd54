// SPDX-License-Identifier: Apache-2.0

// Package root gathers the verbs: the tree of commands, with help and completion, the exit codes, and the documents that
// -o json prints. It must not know what a verb does.
package root

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/approve"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/diff"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/doctor"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/explain"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/fleet"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/functions"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/get"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/initialize"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/lint"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/list"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/promote"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/pull"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/push"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/receipts"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/reconcile"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/render"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/renderchart"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/show"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/version"
)

// Run executes one command line and returns its exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := New()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	// client-go logs errors that it returns as well.
	err := root.ExecuteContext(logr.NewContext(ctx, logr.Discard()))
	if err == nil {
		return ExitOK
	}
	err = flags.Exclusive(err)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "winnow: interrupted")
	case output.IsFinding(err):
		output.PrintError(stderr, err)
		return ExitFindings
	default:
		output.PrintError(stderr, err)
	}
	return ExitFailed
}

// Exit codes. output.IsFinding distinguishes the last two.
const (
	ExitOK       = 0
	ExitFindings = 1 // the input is invalid, or has what the verb looks for
	ExitFailed   = 2 // usage or input/output
)

// Documents returns an empty document of each kind that -o json prints. docs/schemas has their schemas.
func Documents() []any {
	return slices.Concat(lint.Documents(), list.Documents(), explain.Documents(), show.Documents(), diff.Documents(), version.Documents(),
		push.Documents(), functions.Documents(), get.Documents(), receipts.Documents(), fleet.Documents(), doctor.Documents())
}

// New returns the program winnow, with its verbs.
func New() *cobra.Command {
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
		Args:          flags.RootArguments,
		Version:       version.Number(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flags.FlagError)
	root.SetVersionTemplate(version.This().Line())
	root.Flags().Bool("version", false, "print the version, as winnow version does") // cobra's own has the shorthand -v
	flags.AddGlobal(root)
	root.AddCommand(lint.New(), list.New(), explain.New(), show.New(), render.New(),
		diff.New(), promote.New(), fleet.New(time.Now), site.New(), push.New(), pull.New(), initialize.New(), imports.New(),
		functions.New(), version.New(), newCompletionCommand())
	root.SetHelpCommand(newHelpCommand())
	root.AddCommand(get.New(), doctor.New(version.Number()), reconcile.New(), reconcile.NewSuspend(), reconcile.NewResume(), approve.New(), receipts.New(time.Now), renderchart.New())
	return root
}

// newHelpCommand returns winnow help. cobra's own prints the help of winnow for an unknown verb, and exits with 0.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (verbs []string, _ cobra.ShellCompDirective) {
			for _, verb := range cmd.Root().Commands() {
				if len(args) == 0 && verb.IsAvailableCommand() {
					verbs = append(verbs, cobra.CompletionWithDesc(verb.Name(), verb.Short))
				}
			}
			return verbs, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			verb, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return err
			case len(rest) > 0:
				return flags.UnknownVerb(cmd.Root(), rest[0])
			}
			verb.InitDefaultHelpFlag()
			return verb.Help()
		},
	}
}

// newCompletionCommand returns winnow completion.
func newCompletionCommand() *cobra.Command {
	type generator func(*cobra.Command, io.Writer) error
	shells := map[string]generator{
		"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":        (*cobra.Command).GenZshCompletion,
		"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
	}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the script that completes command lines in a shell",
		Long: "Print the script with which a shell completes verbs, flags, files, formats, the\n" +
			"selections of -f and of a cluster, namespaces, contexts, and the applications of\n" +
			"--source. Applications in a registry are not completed.\n\n" +
			"bash needs the package bash-completion, zsh a line \"autoload -U compinit;\n" +
			"compinit\" in ~/.zshrc.",
		Example: "  # bash, in this shell, and in all\n" +
			"  source <(winnow completion bash)\n" +
			"  winnow completion bash > /etc/bash_completion.d/winnow\n\n" +
			"  # zsh\n" +
			"  winnow completion zsh > \"${fpath[1]}/_winnow\"\n\n" +
			"  # fish\n" +
			"  winnow completion fish > ~/.config/fish/completions/winnow.fish\n\n" +
			"  # PowerShell\n" +
			"  winnow completion powershell | Out-String | Invoke-Expression",
		DisableFlagsInUseLine: true,
		ValidArgs:             []string{"bash", "zsh", "fish", "powershell"},
		Args:                  flags.OneOf("bash", "zsh", "fish", "powershell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return shells[args[0]](cmd.Root(), cmd.OutOrStdout())
		},
	}
}
