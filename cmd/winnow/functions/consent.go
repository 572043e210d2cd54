// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// keep counts a config that has a runtime, and refuses a runtime that the user has not allowed. Only flags allow what
// kustomize does not do by default; a file of a repository cannot. supplied is the runtime of a trusted catalog, which
// counts as consent to its program; nil without one.
func (r *resolver) keep(c *configs.Config, supplied *krmfunctions.Runtime) {
	r.count(c, supplied)
	image, exec, network := c.Kept.Container.Image, c.Kept.Exec.Path, c.Kept.Container.Network
	exported := slices.IndexFunc(c.Kept.Container.Env, func(env string) bool { return !strings.Contains(env, "=") })
	r.needs.add(needs{function: true, exec: image == "", network: network})
	switch {
	case image == "" && !r.Exec && supplied == nil:
		r.Add(c.File, c.Line, "%s has the program %s, which runs with all rights of the user: look at it, and pass --enable-exec to allow it", c, excerpt.Quoted(exec))
	case network && !r.Network:
		r.Add(c.File, c.Line, "%s has the network in its runtime: pass --network to allow it", c)
	case len(c.Kept.Container.StorageMounts) > 0:
		r.Add(c.File, c.Line, "%s has mounts in its runtime, which kustomize makes without a flag: remove them, and pass --mount", c)
	case exported >= 0:
		r.Add(c.File, c.Line, "%s has the variable %s of this machine in its runtime, which kustomize hands over without a flag: remove it, and pass --env to kustomize",
			c, excerpt.Quoted(c.Kept.Container.Env[exported]))
	case image != "" && !strings.Contains(image, "@sha256:"):
		r.Note("%s:%d: %s keeps the image %s, which has no digest", r.Show(c.File), c.Line, c, excerpt.Quoted(image))
	case image == "" && !strings.Contains(exec, "/"):
		r.Note("%s:%d: %s keeps the path %s, which kustomize looks for in PATH: write ./ before it", r.Show(c.File), c.Line, c, excerpt.Quoted(exec))
	}
}

// count counts a config, and the files that the function of a catalog needs.
func (r *resolver) count(c *configs.Config, supplied *krmfunctions.Runtime) {
	if supplied == nil && c.Recorded == "" {
		r.result.Kept++
		return
	}
	r.result.Current++
	if supplied == nil || supplied.Container == nil || !supplied.Container.Storage {
		return
	}
	if r.needs.storage = true; len(r.Mounts) == 0 {
		r.Add(c.File, c.Line, "%s needs files of this machine: pass --mount, as of kustomize, to allow it", c)
	}
}

// leave notes the remote bases. Their programs would run with the flag that only a program of a catalog needs.
func (r *resolver) leave() {
	for _, one := range r.Remote {
		if r.needs.exec && !r.Exec {
			r.Add(one.Path, one.Line, "%s, and its programs would run with --enable-exec, which programs of the catalogs need: copy it into the directory, or pass --enable-exec to allow it", one.Message)
			continue
		}
		r.Note("%s:%d: %s: its functions stay as they are", r.Show(one.Path), one.Line, one.Message)
	}
}

// flags returns the flags of kustomize build.
func (r *resolver) flags() []string {
	var flags plaintext.Texts
	flags.Add(r.needs.function, "--enable-alpha-plugins")
	flags.Add(r.needs.exec, "--enable-exec")
	flags.Add(r.needs.network, "--network")
	if r.needs.storage {
		for _, mount := range r.Mounts {
			flags = append(flags, "--mount", mount)
		}
	}
	return flags
}
