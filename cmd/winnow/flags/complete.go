// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
	"github.com/winnow-dev/winnow/render/each"
)

// CompleteFirst completes the first argument with files and directories.
func CompleteFirst(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteSelection completes -f with files, and --name with the selections in that file.
func CompleteSelection(cmd *cobra.Command) {
	CompleteFiles(cmd, "file")
	// The only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("name", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		file, _ := cmd.Flags().GetString("file")
		return completeNames(cmd.Context(), file), cobra.ShellCompDirectiveNoFileComp
	})
}

// CompleteFiles completes flags with YAML files. The only error is that there is no such flag.
func CompleteFiles(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = cmd.MarkFlagFilename(flag, "yaml", "yml", "json")
	}
}

// CompleteNothing keeps a shell from completing files for flags that take none.
func CompleteNothing(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// completionTime bounds the time that a shell waits for a completion.
const completionTime = 2 * time.Second

// completeNames returns the names of the selections in a file. It never reads standard input.
func completeNames(ctx context.Context, file string) []string {
	if file == "" || file == "-" {
		return nil
	}
	return WithinTime(ctx, func(ctx context.Context) []string {
		inputs, err := files.ReadInputs(ctx, file, nil)
		if err != nil {
			return nil
		}
		return slices.Concat(each.Map(inputs, func(m files.Input) []string { return selectionfile.Names(ctx, m.Content) })...)
	})
}

// WithinTime returns the results of find, sorted and without duplicates, or nil after completionTime: a pipe
// may have no writer, and a file system may not respond.
func WithinTime(ctx context.Context, find func(context.Context) []string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	found, _ := files.Await(ctx, func() ([]string, error) { return find(ctx), nil })
	return slices.Compact(slices.Sorted(slices.Values(found)))
}
