// SPDX-License-Identifier: Apache-2.0

// Package pull is winnow pull: it fetches a catalog from a registry into a directory.
package pull

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/loading"
)

// pullOptions are the flags of winnow pull.
type pullOptions struct {
	directory string
	access    flags.Access
}

// New returns winnow pull.
func New() *cobra.Command {
	var o pullOptions
	cmd := &cobra.Command{
		Use:   "pull " + oci.Scheme + "HOST/REPOSITORY[:TAG|@DIGEST] -o DIR",
		Short: "Fetch a catalog from a registry",
		Long: "Fetch the files of a catalog, whether it is valid or not, into a directory that\n" +
			"is empty or does not exist yet. The digest of the artifact is printed.\n\n" +
			"Credentials are in Docker's configuration, which docker login writes.\n" +
			"Exit codes: 0 done, 1 the artifact is invalid, 2 usage or I/O.",
		Example: "  winnow pull oci://ghcr.io/org/catalog:v1.2.0 -o catalog\n\n" +
			"  # what a cluster has, by the digest in the status of its OCIRepository\n" +
			"  winnow pull oci://ghcr.io/org/catalog@sha256:0123... -o catalog",
		Args:              flags.Arguments(1, 1, "one reference, "+oci.Scheme+"HOST/REPOSITORY[:TAG|@DIGEST]"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.CheckDestination(cmd, "-o", "directory", o.directory); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0], cmd.OutOrStdout(), flags.Notes(cmd))
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.directory, "output", "o", "", "write the files to `DIR`")
	o.access.AddFlags(cmd)
	_ = cmd.MarkFlagDirname("output") // the only error is that there is no such flag
	return cmd
}

func (o *pullOptions) run(ctx context.Context, where string, stdout, notes io.Writer) error {
	if o.directory == "" {
		return errors.New("where to? pass -o DIR")
	}
	reference, err := oci.ParseReference(where)
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if err := files.CheckEmpty(o.directory); err != nil { // before, not after, the transfer
		return err
	}
	progress := output.NewProgress(notes)
	defer progress.Clear()
	progress.Step("pulling the catalog")
	repository, err := o.access.Connect(ctx, reference, progress.Observe)
	if err != nil {
		return err
	}
	pulled, err := repository.Pull(ctx, v1alpha1.FormatAuto)
	if err != nil {
		return fmt.Errorf("pulling %s: %w", where, err)
	}
	content, err := archive.Read(ctx, bytes.NewReader(pulled.Layer), loading.LimitsOf(pulled.Format))
	if err != nil {
		return input.ArchiveError(where, err)
	}
	if err := files.WriteEmptyDirectory(o.directory, content); err != nil {
		return err
	}
	progress.Clear()
	fmt.Fprintf(notes, "pulled %s, %s\n", plaintext.Count(content.Len(), "file"), output.Size(content.Size()))
	if pulled.Note != "" {
		output.PrintNote(notes, "note: "+pulled.Note)
	}
	_, err = fmt.Fprintln(stdout, oci.DigestAddress(reference, pulled.Digest))
	return err
}
