// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/workspace"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// review decides on a config with a record or with a program: it verifies what a catalog supplied, and compares it with what
// the catalogs say now.
func (r *resolver) review(ctx context.Context, c *configs.Config) error {
	hash, problem, err := r.hashOfKept(ctx, c)
	if err != nil {
		return err
	}
	s, f, v, missing, err := r.lookup(ctx, c, c.Users[0])
	if err != nil {
		return err
	}
	supplied := r.supplied(v, c, hash)
	if c.Recorded == "" {
		r.keep(c, supplied)
		return nil
	}
	isChanged := hash != c.Recorded
	switch {
	case !r.conforms(ctx, c, s, f, v):
		return nil
	case v != nil && r.Update && (isChanged || supplied == nil || r.asks(v.Runtime)):
		return r.resolve(ctx, c)
	case isChanged:
		r.Add(r.Show(c.File), c.Line, "%s %s: look at it, and pass --update to resolve it again; without the annotation %s it is a runtime of its own",
			c, changed(problem, hash, c.Recorded), configs.DigestKey)
		return nil
	case v == nil && len(r.sources) > 0:
		r.stale(c, "%s is resolved, but %s: name the catalog that has it, or remove the annotation %s to keep the runtime as one of its own",
			c, strings.TrimPrefix(missing, "has no runtime, and "), configs.DigestKey)
	case v != nil && supplied == nil:
		r.stale(c, "%s is resolved to sha256:%s, and the catalog has another runtime (%s:%d): pass --update to take it",
			c, hash, s.Locate(f.Path), v.Runtime.Line)
	}
	r.keep(c, supplied)
	return nil
}

// supplied returns the runtime of a version if it is the one that a config has, and nil otherwise.
func (r *resolver) supplied(v *krmfunctions.Version, c *configs.Config, hash string) *krmfunctions.Runtime {
	if v == nil || !r.supplies(v.Runtime, c, hash) {
		return nil
	}
	return v.Runtime
}

// asks reports whether the digest of an image is that which a registry has now.
func (r *resolver) asks(offered *krmfunctions.Runtime) bool {
	return r.Digest != nil && offered.Container != nil && offered.Container.SHA256 == ""
}

// stale reports that the catalogs have another runtime than the one that was resolved, or none.
func (r *resolver) stale(c *configs.Config, format string, args ...any) {
	r.result.Stale = append(r.result.Stale, finding.Finding{Path: r.Show(c.File), Line: c.Line, Message: fmt.Sprintf(format, args...)})
}

// changed returns how a runtime differs from its record.
func changed(problem, hash, recorded string) string {
	if problem == "" {
		problem = "has a runtime with the sha256 " + hash
		if hash == "" {
			problem = "has a runtime without a digest"
		}
	}
	return fmt.Sprintf("%s, not %s, with which it was resolved", problem, recorded)
}

// supplies reports whether a runtime of a catalog is the one that a config has: the same image, or a program with the same
// hash, wherever it lies. The digest of a tag is the one that was recorded.
func (r *resolver) supplies(offered *krmfunctions.Runtime, c *configs.Config, hash string) bool {
	switch {
	case hash == "":
		return false
	case offered.Container != nil:
		image := offered.Container
		name, _, _ := strings.Cut(image.Image, "@")
		return c.Kept.Container.Image == name+"@"+configs.DigestPrefix+cmp.Or(image.SHA256, hash) && c.Kept.Container.Network == image.Network
	case offered.Exec != nil:
		return c.Kept.Container.Image == "" && slices.ContainsFunc(offered.Exec.Platforms, func(p krmfunctions.Platform) bool {
			return p.OS == r.OS && p.Arch == r.Arch && p.SHA256 == hash
		})
	}
	return false
}

// hashOfKept returns the digest of the image that a config has, or the hash of its program; empty without one. problem says
// why a program has none.
func (r *resolver) hashOfKept(ctx context.Context, c *configs.Config) (hash, problem string, err error) {
	if image := c.Kept.Container.Image; image != "" {
		_, digest, _ := strings.Cut(image, "@"+configs.DigestPrefix)
		return digest, "", nil
	}
	program := filepath.ToSlash(c.Kept.Exec.Path)
	// The system follows links before .., so that another program could run than the one that is read here.
	if clean := path.Clean(program); !strings.Contains(program, "/") || program != clean && program != "./"+clean {
		return "", fmt.Sprintf("has the program %s: write its path with ./ or ../ at the beginning alone", excerpt.Quoted(program)), nil
	}
	for i, user := range c.Users {
		file := filepath.FromSlash(program)
		if !filepath.IsAbs(file) {
			root, err := workspace.Absolute(r.Root)
			if err != nil {
				return "", "", err
			}
			file = filepath.Join(root, filepath.FromSlash(user.Dir), file)
		}
		sum, problem, err := workspace.Inspect(ctx, filepath.Dir(file), filepath.Base(file))
		if err != nil || problem != "" {
			return "", problem, err
		}
		if i > 0 && sum != hash {
			return "", fmt.Sprintf("has the program %s, which is another one in each of the kustomizations that use it", excerpt.Quoted(program)), nil
		}
		hash = sum
	}
	return hash, "", nil
}
