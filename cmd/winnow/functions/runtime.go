// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/runtime/runtimeutil"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/workspace"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// runtime is the runtime that resolving writes into a config.
type runtime struct {
	annotation string
	// hash of the image or of the program.
	hash  string
	needs needs
	// from is the place of the runtime in its catalog.
	from string
}

// runtime decides on the runtime of a config in a layer; nil after it has reported why there is none. Of a function with
// several runtimes kustomize runs the container.
func (r *resolver) runtime(ctx context.Context, c *configs.Config, l *configs.Layer) (*runtime, error) {
	s, f, v, missing, err := r.lookup(ctx, c, l)
	if err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) (*runtime, error) {
		r.Add(c.File, c.Line, "%s "+format, append([]any{c}, args...)...)
		return nil, nil
	}
	if v == nil {
		return refuse("%s", missing)
	}
	if !r.conforms(ctx, c, s, f, v) {
		return nil, nil
	}
	chosen, out := &runtime{from: fmt.Sprintf("%s:%d", s.Locate(f.Path), v.Runtime.Line), needs: needs{function: true}}, runtimeutil.FunctionSpec{}
	var problem string
	switch run := v.Runtime; {
	case run.Container != nil:
		out.Container, problem, err = r.container(ctx, s, f, run.Container)
		chosen.hash = run.Container.SHA256 // --pin has set it
		chosen.needs.network, chosen.needs.storage = run.Container.Network, run.Container.Storage
	case run.Exec != nil:
		out.Exec, chosen.hash, problem, err = r.exec(ctx, s, f, run.Exec, l)
		chosen.needs.exec = true
	default:
		problem = "is a Starlark script, which kustomize does not run any more"
	}
	switch {
	case err != nil:
		return nil, err
	case problem != "":
		return refuse("%s (%s)", problem, chosen.from)
	}
	text, err := yamlnode.Encode(out)
	chosen.annotation = string(text)
	return chosen, err
}

// container returns the runtime of an image, or why it is refused.
func (r *resolver) container(ctx context.Context, s *Source, f *krmfunctions.Function, c *krmfunctions.Container) (written runtimeutil.ContainerSpec, problem string, err error) {
	switch {
	case c.Network && !r.Network:
		return written, "needs the network: pass --network to allow it", nil
	case c.Storage && len(r.Mounts) == 0:
		return written, "needs files of this machine: pass --mount, as of kustomize, to allow it", nil
	case c.SHA256 == "" && r.Digest == nil && s.Dir == "":
		return written, fmt.Sprintf("has the image %s without a digest: pass --pin to record the registry's digest in the config", excerpt.Quoted(c.Image)), nil
	case c.SHA256 == "" && r.Digest == nil:
		return written, fmt.Sprintf("has the image %s without a digest: pass --pin to write the registry's digest into the catalog", excerpt.Quoted(c.Image)), nil
	case c.SHA256 == "":
		if err := r.pin(ctx, s, f, c); err != nil {
			return written, "", err
		}
	}
	image, _, _ := strings.Cut(c.Image, "@")
	return runtimeutil.ContainerSpec{Image: image + "@sha256:" + c.SHA256, Network: c.Network}, "", nil
}

// exec returns the runtime of a program for the platform with the program's hash, or why it is refused.
func (r *resolver) exec(ctx context.Context, s *Source, f *krmfunctions.Function, e *krmfunctions.Exec, l *configs.Layer) (written runtimeutil.ExecSpec, hash, problem string, err error) {
	for _, p := range e.Platforms {
		if p.OS != r.OS || p.Arch != r.Arch {
			continue
		}
		if problem := execProblem(s, p); problem != "" {
			return written, "", problem, nil
		}
		name, err := workspace.Join(path.Dir(f.Path), p.URI)
		if err != nil {
			return written, "", fmt.Sprintf("has the program %s outside of its catalog", excerpt.Quoted(p.URI)), nil
		}
		file, problem, err := workspace.Verify(ctx, s.Dir, name, p.SHA256)
		if problem != "" || err != nil {
			return written, "", problem, err
		}
		relative, err := r.fromLayer(file, l)
		return runtimeutil.ExecSpec{Path: relative}, p.SHA256, "", err
	}
	has := excerpt.List(e.Platforms, maxNamed, func(p krmfunctions.Platform) string { return excerpt.Of(p.OS + "/" + p.Arch) })
	return written, "", fmt.Sprintf("has no program for %s/%s: it has %s", r.OS, r.Arch, has), nil
}

func execProblem(s *Source, p krmfunctions.Platform) string {
	switch {
	case krmfunctions.IsRemote(p.URI):
		return fmt.Sprintf("has the program %s, which is remote: nothing is downloaded; keep it beside a catalog of your own, with its path as uri", excerpt.Quoted(p.URI))
	case s.IsFile:
		return fmt.Sprintf("has the program %s beside a catalog on a web server: nothing but the catalog is downloaded; keep both in a directory, and name it", excerpt.Quoted(p.URI))
	case s.Dir == "":
		return fmt.Sprintf("has the program %s in an archive: unpack the catalog, with winnow pull from a registry, and name the directory", excerpt.Quoted(p.URI))
	case p.SHA256 == "":
		return fmt.Sprintf("has the program %s without a sha256, so it cannot be checked: write what sha256sum prints into the catalog", excerpt.Quoted(p.URI))
	}
	return ""
}

// fromLayer returns the path of a program as kustomize finds it: relative to the directory of the layer, and with ./ or
// ../, because a name alone is looked for in PATH.
func (r *resolver) fromLayer(program string, l *configs.Layer) (string, error) {
	root, err := workspace.Absolute(r.Root)
	if err != nil {
		return "", err
	}
	base := root
	if r.Output != "" {
		if base, err = workspace.Absolute(r.Output); err != nil {
			return "", err
		}
		if inside, err := filepath.Rel(root, program); err == nil && filepath.IsLocal(inside) {
			program = filepath.Join(base, inside)
		}
	}
	relative, err := filepath.Rel(filepath.Join(base, filepath.FromSlash(l.Dir)), program)
	if err != nil {
		return "", err
	}
	relative = filepath.ToSlash(relative)
	if !strings.HasPrefix(relative, "../") {
		relative = "./" + relative
	}
	return relative, nil
}

// pin reads the digest of an image from its registry, and records the position in the catalog to write it to. If the
// catalog is no local file, only the runtime gets the digest.
func (r *resolver) pin(ctx context.Context, s *Source, f *krmfunctions.Function, c *krmfunctions.Container) error {
	digest, err := r.Digest(ctx, c.Image)
	if err != nil {
		return fmt.Errorf("asking for the digest of the image %s: %w", excerpt.Quoted(c.Image), err)
	}
	hash, ok := strings.CutPrefix(digest, "sha256:")
	if !ok {
		return fmt.Errorf("the image %s has the digest %s: only digests of sha256 are supported", excerpt.Quoted(c.Image), excerpt.Quoted(digest))
	}
	c.SHA256 = hash
	note := fmt.Sprintf("%s:%d: pinned %s to sha256:%s", s.Locate(f.Path), c.Line, c.Image, hash)
	if s.Dir == "" {
		r.Note("%s", note)
		return nil
	}
	file := filepath.Join(s.Dir, filepath.FromSlash(f.Path))
	for _, known := range r.pins[file] {
		if known.Line == c.Line && known.Column == c.Column { // behind an alias, or of the same catalog by another reference
			return nil
		}
	}
	r.pins[file] = append(r.pins[file], c)
	r.Note("%s", note)
	return nil
}
