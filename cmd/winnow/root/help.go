// SPDX-License-Identifier: Apache-2.0

package root

import (
	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
)

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
