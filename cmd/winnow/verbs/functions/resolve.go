// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/functions"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/workspace"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/finding"
)

// resolveOptions are the flags of winnow functions resolve.
type resolveOptions struct {
	catalogs, trusted, mounts []string
	root, output, platform    string
	pin, check, update        bool
	network, exec             bool
	access                    flags.Access
}

func newFunctionsResolveCommand() *cobra.Command {
	var o resolveOptions
	cmd := &cobra.Command{
		Use:   "resolve DIR [--catalog CATALOG]... [-o DIR|--check]",
		Short: "Give the functions of a kustomization the runtimes of a catalog",
		Long: "Find the generators, transformers and validators of the kustomization in DIR\n" +
			"and of its bases, look up the apiVersion and kind of each config that has no\n" +
			"runtime, and write the image with its digest, or the path of the program, into\n" +
			"its annotation config.kubernetes.io/function, with the digest beside it. That is\n" +
			"verified each time; --update takes what the catalogs say now, and --check fails\n" +
			"where they say something else. A config with a runtime of its own keeps it.\n" +
			"The field catalogs, which kustomize refuses, is read and removed. Files are\n" +
			"edited in place, or with -o copied to a directory that is empty or missing.\n\n" +
			"The first catalog with a function wins: from winnow/functions.yaml in the user's\n" +
			"directory of configuration, then from --catalog, then a catalog that both the\n" +
			"kustomization, for itself alone, and --trusted-catalog name.\n" +
			"A CATALOG is a YAML file, a directory, a .tar.gz file,\n" +
			"oci://host/repository[:tag|@digest] or https://host/file@sha256:DIGEST.\n" +
			"Otherwise, only --pin uses the network.\n\n" +
			"stdout has the flags that kustomize needs to run the result; without them it\n" +
			"skips programs silently. A file cannot add a flag: only the command line allows\n" +
			"the network with --network, files with --mount, and programs that are of no\n" +
			"catalog, also in what is resolved, with --enable-exec.\n" +
			"Exit codes: 0 done, 1 a config cannot be resolved, or --check finds one that is\n" +
			"not resolved, 2 usage or I/O.",
		Example: "  winnow functions resolve ./app --catalog ./catalog.yaml -o resolved\n\n" +
			"  # CI: nothing is left to resolve, and kustomize runs all of it\n" +
			"  flags=$(winnow functions resolve ./app --check)\n" +
			"  kustomize build $flags ./app\n\n" +
			"  # write the digests of tags into the catalog\n" +
			"  winnow functions resolve ./app --catalog ./catalog.yaml --pin -o resolved\n\n" +
			"  # of a catalog on a web server, they are written into the configs alone\n" +
			"  winnow functions resolve ./app --pin \\\n" +
			"    --catalog https://example.com/catalog.yaml@sha256:DIGEST\n\n" +
			"  # bases beside the kustomization\n" +
			"  winnow functions resolve ./overlays/prod --root . -o resolved",
		Args:              flags.Arguments(1, 1, "one DIR"),
		ValidArgsFunction: flags.CompleteFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.CheckDestination(cmd, "-o", "directory", o.output); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0], flags.StreamsOf(cmd))
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *resolveOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.catalogs, "catalog", nil, "`CATALOG` of functions, repeatable")
	f.StringArrayVar(&o.trusted, "trusted-catalog", nil, "`REF` of a catalog that kustomizations may name")
	f.StringVar(&o.root, "root", "", "`DIR` with the kustomization and its bases")
	f.StringVarP(&o.output, "output", "o", "", "copy the files to `DIR`, resolved")
	f.BoolVar(&o.check, "check", false, "write nothing; fail if one is not resolved")
	f.BoolVar(&o.update, "update", false, "take again what catalogs supplied before")
	f.BoolVar(&o.pin, "pin", false, "ask registries for the digests of tags")
	f.BoolVar(&o.network, "network", false, "allow functions that need the network")
	f.BoolVar(&o.exec, "enable-exec", false, "allow programs that configs name themselves")
	f.StringArrayVar(&o.mounts, "mount", nil, "files functions may need: kustomize's `MOUNT`")
	f.StringVar(&o.platform, "platform", runtime.GOOS+"/"+runtime.GOARCH, "`OS/ARCH` of programs")
	f.Lookup("platform").DefValue = ""
	o.access.AddFlags(cmd)
	for _, flag := range []string{"output", "pin", "update"} {
		cmd.MarkFlagsMutuallyExclusive("check", flag)
	}
	_ = cmd.MarkFlagDirname("output") // the only error is that there is no such flag
	_ = cmd.MarkFlagDirname("root")
	flags.CompleteNothing(cmd, "trusted-catalog", "mount", "platform")
}

func (o *resolveOptions) run(ctx context.Context, dir string, out output.Streams) error {
	options, err := o.options(ctx, dir, out.Notes)
	if err != nil {
		return err
	}
	result, err := functions.Resolve(ctx, options)
	switch _, invalid := errors.AsType[*configs.InvalidError](err); {
	case invalid:
		return output.Finding(fmt.Errorf("resolving %s: %w", dir, err))
	case err != nil:
		return err
	case o.check && len(result.Changes) > 0:
		return output.Finding(fmt.Errorf("%s is not resolved, which winnow functions resolve without --check does: %w", dir, &configs.InvalidError{Findings: finding.Findings{Kept: slices.Concat(result.Changes, result.Stale)}}))
	case o.check && len(result.Stale) > 0:
		return output.Finding(fmt.Errorf("%s is resolved by other catalogs: %w", dir, &configs.InvalidError{Findings: finding.Findings{Kept: result.Stale}}))
	}
	for _, one := range result.Stale {
		output.PrintNote(out.Notes, "note: "+one.String())
	}
	for _, note := range result.Notes {
		output.PrintNote(out.Notes, "note: "+note)
	}
	if err := o.write(ctx, options, result); err != nil {
		return err
	}
	o.summarize(out.Notes, options, result)
	_, err = fmt.Fprintln(out.Stdout, strings.Join(result.Flags, " "))
	return err
}

// options checks the flags.
func (o *resolveOptions) options(ctx context.Context, dir string, notes io.Writer) (functions.Options, error) {
	options := functions.Options{
		Root: dir, Output: o.output, Trusted: o.trusted, Network: o.network, Mounts: o.mounts, Exec: o.exec, Update: o.update,
		Open: func(ctx context.Context, reference string) (*functions.Source, error) {
			return openFunctions(ctx, reference, &o.access)
		},
	}
	var ok bool
	if options.OS, options.Arch, ok = strings.Cut(o.platform, "/"); !ok || options.OS == "" || options.Arch == "" {
		return options, fmt.Errorf("--platform %s: want OS/ARCH, such as linux/amd64", o.platform)
	}
	for _, mount := range o.mounts {
		if !functions.IsMount(mount) {
			return options, fmt.Errorf("--mount %s: want type=bind,src=DIR,dst=DIR without spaces, as kustomize's --mount", mount)
		}
	}
	if o.pin {
		options.Digest = func(ctx context.Context, image string) (string, error) { return o.digest(ctx, image) }
	}
	defaults, err := defaultFunctionCatalogs(ctx, notes)
	if err != nil {
		return options, err
	}
	options.Catalogs = slices.Concat(defaults, o.catalogs)
	if err := checkDirectory(dir); err != nil {
		return options, err
	}
	if options.Root, options.Dir, err = placeWithin(o.root, dir); err != nil {
		return options, err
	}
	if o.output != "" {
		return options, files.CheckEmpty(o.output)
	}
	return options, nil
}

// checkDirectory checks that DIR is one.
func checkDirectory(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s: want the DIR of a kustomization.yaml", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file: want the DIR of a kustomization.yaml", dir)
	}
	return nil
}

// placeWithin returns the root and the path of dir below it. Without a root, dir is the root.
func placeWithin(root, dir string) (_, below string, _ error) {
	if root == "" {
		return dir, ".", nil
	}
	from, err := filepath.Abs(root)
	if err != nil {
		return "", "", err
	}
	to, err := filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	below, err = filepath.Rel(from, to)
	if err != nil || !filepath.IsLocal(below) {
		return "", "", fmt.Errorf("%s does not lie in --root %s", dir, root)
	}
	return root, filepath.ToSlash(below), nil
}

// digest asks a registry for the digest of an image.
func (o *resolveOptions) digest(ctx context.Context, image string) (string, error) {
	reference, err := oci.ParseImage(image)
	if err != nil {
		return "", err
	}
	repository, err := o.access.Connect(ctx, reference, nil)
	if err != nil {
		return "", err
	}
	return repository.Digest(ctx)
}

// write writes the digests into the catalogs, and then the files: in place, or all of them to the output.
func (o *resolveOptions) write(ctx context.Context, options functions.Options, result *functions.Result) error {
	if o.check {
		return nil
	}
	if err := replaceFiles("", result.Catalogs); err != nil {
		return err
	}
	if o.output == "" {
		return replaceFiles(options.Root, result.Files)
	}
	root, err := os.OpenRoot(options.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	content, err := workspace.Copied(ctx, root, o.output)
	if err != nil {
		return fmt.Errorf("copying %s: %w", options.Root, err)
	}
	return files.Stage(o.output, content, func(fresh, _ string) error {
		if err := replaceFiles(fresh, result.Files); err != nil {
			return err
		}
		return files.MoveEntries(fresh, o.output)
	})
}

// replaceFiles replaces the contents of files of a directory, in the order of their paths, and keeps their modes.
func replaceFiles(dir string, content map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(file)
		if err == nil {
			err = files.Replace(file, info.Mode().Perm(), func(f *os.File) error {
				_, err := f.Write(content[name])
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", file, err)
		}
	}
	return nil
}

func (o *resolveOptions) summarize(notes io.Writer, options functions.Options, result *functions.Result) {
	where := filepath.Join(cmp.Or(o.output, options.Root), filepath.FromSlash(options.Dir))
	current := ""
	if result.Current > 0 {
		current = fmt.Sprintf(", %d as before", result.Current)
	}
	fmt.Fprintf(notes, "resolved %s%s, kept %d with a runtime of their own: kustomize build %s\n",
		plaintext.Count(result.Resolved, "function"), current, result.Kept,
		plaintext.Line(strings.Join(append(slices.Clone(result.Flags), where), " ")))
}
