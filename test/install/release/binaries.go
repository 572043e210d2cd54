// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/test/install/spdx"
	"github.com/winnow-dev/winnow/test/stack"
)

// artifact is an entry of what goreleaser lists.
type artifact struct {
	Name, Path, Type, GOOS, GOARCH string
}

// binaries makes an archive of winnow for each platform, and an SBOM of each binary.
func binaries(ctx context.Context, o *options) error {
	goreleaser, err := stack.Goreleaser(ctx, os.Stderr)
	if err != nil {
		return err
	}
	config, dist := filepath.Join(o.bin, "goreleaser.yaml"), filepath.Join(o.bin, "goreleaser")
	if err := o.configure(config, dist); err != nil {
		return err
	}
	env := []string{
		"RELEASE_BIN=" + o.bin, "RELEASE_VERSION=" + o.version, "RELEASE_COMMIT=" + o.commit, "RELEASE_DATE=" + o.created.Format(time.RFC3339),
		"SOURCE_DATE_EPOCH=" + strconv.FormatInt(o.created.Unix(), 10),
	}
	// A snapshot: the version and the commit come from here, and nothing is published. The same in a dry run and on a
	// tag.
	if _, err := output(ctx, env, goreleaser, "release", "--snapshot", "--clean", "--config", config); err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(dist, "artifacts.json"))
	if err != nil {
		return err
	}
	var artifacts []artifact
	if err := json.Unmarshal(content, &artifacts); err != nil {
		return fmt.Errorf("reading what goreleaser made: %w", err)
	}
	for _, a := range artifacts {
		switch a.Type {
		case "Archive":
			err = copyFile(a.Path, o.file(a.Name))
		case "Binary":
			err = o.writeSBOM(a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// configure writes the configuration of goreleaser with a directory for its results. goreleaser release has no flag for
// either, nor for one platform.
func (o *options) configure(file, dist string) error {
	content, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		return err
	}
	config := map[string]any{}
	if err := yaml.Unmarshal(content, &config); err != nil {
		return fmt.Errorf("reading .goreleaser.yaml: %w", err)
	}
	config["dist"] = dist
	if o.single {
		build := config["builds"].([]any)[0].(map[string]any)
		build["targets"] = []string{runtime.GOOS + "_" + runtime.GOARCH}
	}
	if content, err = yaml.Marshal(config); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// writeSBOM writes the SPDX document of a binary.
func (o *options) writeSBOM(a artifact) error {
	content, err := os.ReadFile(a.Path)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(a.Path)
	if err != nil {
		return fmt.Errorf("reading what %s is built of: %w", a.Path, err)
	}
	digest, platform := fmt.Sprintf("%x", sha256.Sum256(content)), a.GOOS+"/"+a.GOARCH
	document, err := spdx.Document(spdx.Subject{
		Name: "winnow_" + a.GOOS + "_" + a.GOARCH, Version: o.version, SHA256: digest, Purpose: "FILE",
		Programs: []spdx.Program{{Name: "winnow", Platform: platform, SHA256: digest, Build: info}},
	}, o.created)
	if err != nil {
		return err
	}
	return os.WriteFile(o.file(fmt.Sprintf("winnow_%s_%s_%s.spdx.json", o.number(), a.GOOS, a.GOARCH)), document, 0o644)
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
