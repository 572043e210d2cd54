// SPDX-License-Identifier: Apache-2.0

package root

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
)

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
