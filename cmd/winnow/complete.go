package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/selectionfile"
)

// completionTime bounds the time that a shell waits for a completion.
const completionTime = 2 * time.Second

// completeFirst completes the first argument with files and directories.
func completeFirst(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// completeSelection completes -f with files, and --name with the selections in that file.
func completeSelection(cmd *cobra.Command) {
	completeFiles(cmd, "file")
	// The only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("name", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		file, _ := cmd.Flags().GetString("file")
		return completeNames(cmd.Context(), file), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeFiles completes flags with YAML files. The only error is that there is no such flag.
func completeFiles(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = cmd.MarkFlagFilename(flag, "yaml", "yml", "json")
	}
}

// completeNothing keeps a shell from completing files for flags that take none.
func completeNothing(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// completeNames returns the names of the selections in a file. It never reads standard input.
func completeNames(ctx context.Context, file string) []string {
	if file == "" || file == "-" {
		return nil
	}
	return withinTime(ctx, func(ctx context.Context) []string {
		inputs, err := readInputs(ctx, file, nil)
		if err != nil {
			return nil
		}
		var names []string
		for _, m := range inputs {
			names = append(names, selectionfile.Names(ctx, m.content)...)
		}
		return names
	})
}

// completeApplications returns the names of the applications in the catalogs of --source. It skips
// registries: a completion must not wait for the network.
func completeApplications(ctx context.Context, sources []string) []string {
	return withinTime(ctx, func(ctx context.Context) []string {
		var names []string
		for _, arg := range sources {
			where := arg
			if _, after, named := strings.Cut(arg, "="); named && !exists(arg) {
				where = after
			}
			if strings.HasPrefix(where, oci.Scheme) {
				continue
			}
			source, err := openSource(ctx, where, v1alpha1.SourceReference{}, nil)
			if err != nil {
				continue
			}
			for _, application := range source.Catalog.Applications {
				names = append(names, application.Name)
			}
		}
		return names
	})
}

// withinTime returns the results of find, sorted and without duplicates, or nil after completionTime: a pipe
// may have no writer, and a file system may not respond.
func withinTime(ctx context.Context, find func(context.Context) []string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	found, _ := await(ctx, func() ([]string, error) { return find(ctx), nil })
	return slices.Compact(slices.Sorted(slices.Values(found)))
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
