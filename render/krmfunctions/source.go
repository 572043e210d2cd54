// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import "strings"

// Source returns what decides which code runs: the image, the programs and the script, with their hashes, in the types of
// JSON. It is empty for a runtime of which only the types are known. A digest behind an image is the same as one beside
// it.
func (r *Runtime) Source() map[string]any {
	source := map[string]any{}
	if r == nil {
		return source
	}
	if c := r.Container; c != nil && c.Image != "" {
		name, _, _ := strings.Cut(c.Image, "@")
		source["container"] = hashed(map[string]any{"image": name}, c.SHA256)
	}
	if r.Exec != nil && len(r.Exec.Platforms) > 0 {
		var platforms []any
		for _, p := range r.Exec.Platforms {
			platforms = append(platforms, hashed(map[string]any{"bin": p.Bin, "os": p.OS, "arch": p.Arch, "uri": p.URI}, p.SHA256))
		}
		source["exec"] = map[string]any{"platforms": platforms}
	}
	if s := r.Starlark; s != nil && s.URI != "" {
		source["starlark"] = hashed(map[string]any{"uri": s.URI}, s.SHA256)
	}
	return source
}

func hashed(source map[string]any, sum string) map[string]any {
	if sum != "" {
		source["sha256"] = sum
	}
	return source
}
