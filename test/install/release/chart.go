// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnow-dev/winnow/test/stack"
)

// chart packs the chart with an image, and pushes it. It returns the reference of the chart.
func (o *options) chart(ctx context.Context, image string) (string, error) {
	helm, err := stack.Helm(ctx, os.Stderr)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "winnow-chart-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	source := filepath.Join(dir, "winnow")
	if err := os.CopyFS(source, os.DirFS("charts/winnow")); err != nil {
		return "", err
	}
	if err := nameImage(filepath.Join(source, "values.yaml"), o.version, image); err != nil {
		return "", err
	}
	if _, err := output(ctx, nil, helm, "package", source, "--version", o.number(), "--app-version", o.version, "-d", o.dir()); err != nil {
		return "", err
	}
	push := []string{helm, "push", o.file("winnow-" + o.number() + ".tgz"), "oci://" + o.registry + "/charts"}
	if o.plainHTTP {
		push = append(push, "--plain-http")
	}
	if _, err := output(ctx, nil, push...); err != nil {
		return "", err
	}
	return o.digestOf(ctx, o.registry+"/charts/winnow:"+o.number())
}

// nameImage sets the image in the values of the chart. In those of the repository it is one that nodes cannot pull.
func nameImage(file, version, image string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	values := string(content)
	repository, digest, _ := strings.Cut(image, "@")
	for old, value := range map[string]string{
		"  repository: winnow-controller\n": "  repository: " + repository + "\n",
		"  tag: \"{image-not-set}\"\n":      "  tag: " + version + "\n",
		"  digest: \"\"\n":                  "  digest: " + digest + "\n",
	} {
		if strings.Count(values, old) != 1 {
			return fmt.Errorf("the values of the chart do not have %q once", old)
		}
		values = strings.Replace(values, old, value, 1)
	}
	return os.WriteFile(file, []byte(values), 0o644)
}
