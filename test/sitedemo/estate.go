// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// estate returns the files of two commits of a repository like that of an example: the second one gives staging the second
// catalog.
func estate(example string) ([]map[string]string, error) {
	all, err := filesOf(example)
	if err != nil {
		return nil, err
	}
	before := map[string]string{}
	for name, content := range all {
		if !strings.HasPrefix(name, "clusters/") {
			before[name] = content
		}
	}
	before["base/catalog.yaml"] = strings.Replace(before["base/catalog.yaml"], "  url:", "  insecure: true\n  url:", 1)
	before["overlays/edge/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ../../base\npatches:\n" +
		"- target: {kind: CatalogSelection, name: applications}\n  patch: |\n    - op: remove\n      path: /spec/limit\n"
	for overlay, clusters := range map[string][]string{
		"production": {"berlin", "lisbon", "oslo", "paris"}, "staging": {"staging-1", "staging-2"}, "edge": {"edge-1"},
	} {
		before["overlays/"+overlay+"/kustomization.yaml"] += "- path: source.yaml\n"
		before["overlays/"+overlay+"/source.yaml"] = tagged(first)
		for _, cluster := range clusters {
			for name, content := range all {
				if rest, found := strings.CutPrefix(name, "clusters/production/"); found {
					content = strings.ReplaceAll(content, "./clusters/production", "./clusters/"+cluster)
					content = strings.ReplaceAll(content, "./overlays/production", "./overlays/"+overlay)
					before["clusters/"+cluster+"/"+rest] = strings.ReplaceAll(content, "cluster: production", "cluster: "+cluster)
				}
			}
		}
	}
	after := maps.Clone(before)
	after["overlays/staging/source.yaml"] = tagged(second)
	return []map[string]string{before, after}, nil
}

func tagged(tag string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata:\n  name: winnow-example\n  namespace: flux-system\nspec:\n  ref:\n    tag: " + tag + "\n"
}

func write(dir string, files map[string]string) error {
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// commits makes a repository with a commit for each set of files, ten days after the one before.
func commits(ctx context.Context, dir string, all ...map[string]string) error {
	if err := git(ctx, dir, "", "init", "-q", "-b", "main", dir); err != nil {
		return err
	}
	if err := git(ctx, dir, "", "-C", dir, "remote", "add", "origin", "ssh://git@git.example.com/platform/clusters"); err != nil {
		return err
	}
	for n, files := range all {
		if err := write(dir, files); err != nil {
			return err
		}
		date := fmt.Sprintf("2026-01-%02dT09:00:00Z", 5+10*n)
		for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "commit"}} {
			if err := git(ctx, dir, date, append([]string{"-C", dir}, args...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

func git(ctx context.Context, dir, date string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=somebody", "-c", "user.email=somebody@example.com"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s in %s: %w: %s", args[0], dir, err, out)
	}
	return nil
}
