// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/runtime/runtimeutil"

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
	supplied := r.supplied(s, f, v, c, hash)
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
		r.Add(c.File, c.Line, "%s %s: look at it, and pass --update to resolve it again; without the annotation %s it is a runtime of its own",
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

// asks reports whether the digest of an image has to be read from its registry.
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

// supplied returns the runtime of a version if it is the one that a config has, with the same image or program, and nil
// otherwise. The digest of a tag is the one that was recorded. With another field, such as args or envs, it is none of the
// catalog: envs can have LD_PRELOAD.
func (r *resolver) supplied(s *Source, f *krmfunctions.Function, v *krmfunctions.Version, c *configs.Config, hash string) *krmfunctions.Runtime {
	if v == nil || hash == "" {
		return nil
	}
	offered, want := v.Runtime, runtimeutil.FunctionSpec{}
	switch {
	case offered.Container != nil:
		image := offered.Container
		name, _, _ := strings.Cut(image.Image, "@")
		want.Container.Image = name + "@" + configs.DigestPrefix + cmp.Or(image.SHA256, hash)
		want.Container.Network = image.Network
	case offered.Exec != nil && slices.ContainsFunc(offered.Exec.Platforms, func(p krmfunctions.Platform) bool {
		return p.OS == r.OS && p.Arch == r.Arch && p.SHA256 == hash && r.isProgramOf(s, f, p.URI, c)
	}):
		want.Exec.Path = c.Kept.Exec.Path
	}
	if !reflect.DeepEqual(*c.Kept, want) {
		return nil
	}
	return offered
}

// isProgramOf reports whether the program of a config is the file of a catalog itself. A copy of it could load other files
// beside it, as scripts load modules.
func (r *resolver) isProgramOf(s *Source, f *krmfunctions.Function, uri string, c *configs.Config) bool {
	if s.Dir == "" {
		return false
	}
	want, err := workspace.Absolute(filepath.Join(s.Dir, filepath.FromSlash(path.Join(path.Dir(f.Path), uri))))
	return err == nil && !slices.ContainsFunc(c.Users, func(user *configs.Layer) bool {
		file, err := r.placeOf(filepath.ToSlash(c.Kept.Exec.Path), user)
		if err == nil {
			file, err = workspace.Absolute(file)
		}
		return err != nil || file != want
	})
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
		file, err := r.placeOf(program, user)
		if err != nil {
			return "", "", err
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

// placeOf returns where the program of a config in a layer lies: the copy that kustomize builds has the programs of the root, and
// a path may lead out of it.
func (r *resolver) placeOf(program string, l *configs.Layer) (string, error) {
	if filepath.IsAbs(filepath.FromSlash(program)) {
		return filepath.FromSlash(program), nil
	}
	base, below := r.Root, filepath.Join(filepath.FromSlash(l.Dir), filepath.FromSlash(program))
	if r.Output != "" && !filepath.IsLocal(below) {
		base = r.Output
	}
	base, err := workspace.Absolute(base)
	return filepath.Join(base, below), err
}
