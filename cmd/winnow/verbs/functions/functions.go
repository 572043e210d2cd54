// SPDX-License-Identifier: Apache-2.0

// Package functions is winnow functions: it prints catalogs of KRM functions, and resolves functions with them. It must
// not run a function.
package functions

import (
	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
)

// Documents returns an empty document of each kind that -o json prints.
func Documents() []any {
	return []any{newFunctionList()}
}

// New returns winnow functions.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "functions",
		Short: "Look at catalogs of KRM functions, and resolve functions with them",
		Long: "Look at catalogs of KRM functions (config.kubernetes.io/v1alpha1, Catalog,\n" +
			"KRMFunctionCatalog and KRMFunctionDefinition), and give the functions of a\n" +
			"kustomization the runtimes of a catalog, by digest. No function is executed or\n" +
			"downloaded.\n\n" +
			"docs/guides/function-catalogs.md has the format and what is checked.",
		Example: "  winnow functions view ./catalog.yaml\n\n" +
			"  winnow functions resolve ./app --catalog ./catalog.yaml -o resolved",
		Args: flags.RootArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFunctionsViewCommand(), newFunctionsResolveCommand())
	return cmd
}
