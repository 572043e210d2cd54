// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

// files adds the documentation to the release, and signs the checksums of all its files.
func files(ctx context.Context, o *options) error {
	if err := o.archiveDocs(ctx); err != nil {
		return err
	}
	sums, err := o.checksums()
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.file(checksumsFile), []byte(sums), 0o644); err != nil {
		return err
	}
	return o.signChecksums(ctx)
}

// documentation lists what the archive of the documentation has: pages, examples, and what they link to.
func documentation() []string {
	return []string{
		"docs", "examples", "config", "charts", ".github", ".goreleaser.yaml", "test/bench/RESULTS.md", "render/lint/testdata/examples.md", "test/compat/testdata/upgrades.tsv", "test/tools/README.md", "README.md",
		"CHANGELOG.md", "ROADMAP.md", "CONTRIBUTING.md", "MAINTAINERS.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "AGENTS.md", "THIRD_PARTY.md", "LICENSE", "DCO",
	}
}

// archiveDocs packs what the commit has of the documentation.
func (o *options) archiveDocs(ctx context.Context) error {
	name := "winnow_" + o.number() + "_docs"
	args := []string{"git", "archive", "--format=tar.gz", "--prefix=" + name + "/", "--output=" + o.file(name+".tar.gz"), o.commit, "--"}
	_, err := output(ctx, nil, append(args, documentation()...)...)
	return err
}

// checksums returns a line for each file of the release, as sha256sum prints it.
func (o *options) checksums() (string, error) {
	entries, err := os.ReadDir(o.dir())
	if err != nil {
		return "", err
	}
	var sums strings.Builder
	for _, entry := range entries {
		if entry.Name() == checksumsFile || entry.Name() == bundleFile {
			continue
		}
		content, err := os.ReadFile(o.file(entry.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), entry.Name())
	}
	return sums.String(), nil
}

// verify checks that the release is what was signed: the files, the images and the chart.
func verify(ctx context.Context, o *options) error {
	if err := o.verifyChecksums(ctx); err != nil {
		return err
	}
	signed, err := os.ReadFile(o.file(checksumsFile))
	if err != nil {
		return err
	}
	present, err := o.checksums()
	if err != nil {
		return err
	}
	if string(signed) != present {
		return fmt.Errorf("%s is\n%s, and the files are\n%s", checksumsFile, signed, present)
	}
	images, chart, err := o.references()
	if err != nil {
		return err
	}
	for _, image := range images {
		if err := o.verifyReference(ctx, image, true); err != nil {
			return err
		}
	}
	return o.verifyReference(ctx, chart, false)
}
