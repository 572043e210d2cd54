// SPDX-License-Identifier: Apache-2.0

// Package site is winnow site: it writes a static web site of catalogs, and of a GitOps repository. Below it, model is what is
// shown, pages how, and logo the pictures that may be served.
package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/pages"
)

// options are the flags of winnow site.
type options struct {
	directory, title string
	git, base        string
	receipts         string
	repositories     []string
	place            flags.CatalogFiles
	access           flags.Access
}

// listFile is the file of a site that names the others.
const listFile = "winnow-site.txt"

const maxCatalogs = 100

// New returns winnow site.
func New() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "site [[NAME=]CATALOG...] [--git DIR] -o DIR",
		Short: "Write a web site of catalogs, and of a GitOps repository",
		Long: "Write a static web site into a directory: what needs you, the applications of\n" +
			"catalogs, and which cluster has what. It needs no server and no network: open\n" +
			"index.html, or publish the directory. docs/guides/site.md shows both.\n\n" +
			"A CATALOG is a directory, a .tar.gz file or oci://host/repository[:tag|@digest].\n" +
			"NAME is an OCIRepository in the repository: the CATALOG is read instead of the\n" +
			"catalog that it refers to, whatever its tag.\n\n" +
			"With --git the commit HEAD of the repository of DIR is read from that directory\n" +
			"on, as winnow diff --git does, and the catalogs and artifacts that it names are\n" +
			"pulled. Held are the changes since --base that no commit approves. With\n" +
			"--receipts, each cluster of a stage has what it has applied, what is wrong with\n" +
			"it, and what it has installed, as in winnow fleet.\n\n" +
			"The same inputs give the same files. The directory may have other files: those\n" +
			"of an earlier site are replaced, nothing else is. What cannot be read is on the\n" +
			"first page.\n\n" +
			"Exit codes: 0 written, 2 usage, I/O or nothing to show.",
		Example: "  winnow site ./catalog -o site\n\n" +
			"  # a GitOps repository, with the catalogs that it names\n" +
			"  winnow site --git . -o site\n\n" +
			"  # without a registry: the OCIRepository catalog is that directory\n" +
			"  winnow site catalog=./catalog --git . -o site",
		Args: flags.Arguments(0, maxCatalogs, "CATALOGs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.CheckDestination(cmd, "-o", "directory", o.directory); err != nil {
				return err
			}
			return o.run(cmd.Context(), args, flags.StreamsOf(cmd))
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.directory, "output", "o", "", "write the site to `DIR`")
	f.StringVar(&o.title, "title", "", "`NAME` of the site, instead of the repository's")
	f.StringVar(&o.git, "git", "", "`DIR` of a GitOps repository")
	f.StringVar(&o.base, "base", "", "`COMMIT` for held changes, or one a week older")
	f.StringVar(&o.receipts, "receipts", "", "show what clusters have applied, by `ADDRESS`")
	f.StringArrayVar(&o.repositories, "repository", nil, "`NAME=DIR` of a source that is this repository")
	o.place.AddFlags(cmd)
	o.access.AddFlags(cmd)
	flags.CompleteNothing(cmd, "title", "base", "receipts", "repository")
	_ = cmd.MarkFlagDirname("output") // the only error is that there is no such flag
	_ = cmd.MarkFlagDirname("git")    // as above
	return cmd
}

func (o *options) check(args []string) error {
	switch {
	case o.directory == "":
		return errors.New("-o DIR is missing: add -o site to write it to ./site")
	case len(args) == 0 && o.git == "":
		return errors.New("of what? pass a CATALOG, --git DIR, or both")
	case o.git == "" && (o.base != "" || o.receipts != "" || len(o.repositories) > 0):
		return errors.New("--base, --receipts and --repository are for --git")
	}
	return o.place.Check()
}

func (o *options) run(ctx context.Context, args []string, out output.Streams) error {
	if err := o.check(args); err != nil {
		return err
	}
	progress := output.NewProgress(out.Notes)
	defer progress.Clear()
	shown := &model.Site{}
	catalogs := newCatalogs(args, &o.access)
	survey := &model.Survey{}
	if o.git != "" {
		progress.Step("reading the repository")
		var err error
		if survey, err = o.survey(ctx, catalogs); err != nil {
			return output.Unusable(err)
		}
	}
	progress.Step("reading the catalogs")
	if err := catalogs.show(ctx, o.place.Source(), survey, shown); err != nil {
		return err
	}
	if o.git != "" {
		var unread []model.Unread
		shown.Fleet, unread = model.NewFleet(*survey)
		shown.Unread = append(shown.Unread, unread...)
	}
	if len(shown.Catalogs) == 0 && shown.Fleet == nil {
		return output.Unusable(fmt.Errorf("there is nothing to show: %s", shown.Unread[0]))
	}
	progress.Step("writing the site")
	return o.write(ctx, shown, out)
}

func (o *options) write(ctx context.Context, shown *model.Site, out output.Streams) error {
	title := o.title
	if shown.Fleet != nil {
		title = cmp.Or(title, shown.Fleet.Repository.Name)
	}
	rendered, err := pages.Render(ctx, shown, title)
	if err != nil {
		return err
	}
	if err := files.WriteListed(o.directory, listFile, rendered); err != nil {
		return err
	}
	for _, unread := range shown.Unread {
		output.Warn(out.Notes, unread.String())
	}
	applications := 0
	for _, c := range shown.Catalogs {
		applications += len(c.Applications)
	}
	text := "wrote " + plaintext.Count(rendered.Len(), "file") + ", " + output.Size(rendered.Size()) + ": " + plaintext.Count(applications, "application")
	if f := shown.Fleet; f != nil {
		text += ", " + plaintext.Count(f.Clusters, "cluster") + " in " + plaintext.Count(len(f.Columns), "group") +
			", " + plaintext.Count(shown.Needs(), "need")
	}
	output.PrintNote(out.Notes, text)
	return nil
}
