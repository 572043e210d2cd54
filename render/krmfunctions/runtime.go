// SPDX-License-Identifier: Apache-2.0

package krmfunctions

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamlnode"
)

var (
	hashPattern = regexp.MustCompile(`^[a-f0-9]{64}$`)
	// imagePattern matches a reference in a registry, with a port, a tag and a digest.
	imagePattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/:-]*[A-Za-z0-9_])?(@sha256:.*)?$`)
)

// maxReference bounds an image and an address, in bytes.
const maxReference = 2048

// runtime reads the field runtime; nil without one, or without one that can be used.
func (o *object) runtime() *Runtime {
	entry, ok := yamlnode.Find(o.node, "runtime")
	if !ok {
		return nil
	}
	if yamlnode.IsNull(entry.Value) {
		o.refuse(entry.Line, "the runtime of %s is empty", o.name)
		return nil
	}
	in := o.within("runtime")
	if in == nil {
		return nil
	}
	in.name = "the runtime of " + o.name
	in.known(runtimeTypes()...)
	r := &Runtime{Line: in.line, Container: in.container(), Exec: in.exec(), Starlark: in.starlark()}
	if r.Container == nil && r.Exec == nil && r.Starlark == nil {
		if kinds := runtimeTypes(); !slices.ContainsFunc(kinds, in.has) { // else it is reported already
			in.lack(in.line, in.name+" has none of container, exec and starlark", kinds...)
		}
		return nil
	}
	return r
}

func (o *object) container() *Container {
	in := o.within("container")
	if in == nil {
		return nil
	}
	in.known("image", "sha256", "requireNetwork", "requireStorageMount", "requireFilesystem")
	c := &Container{}
	c.Image, c.Line = in.text("image")
	network, _ := in.flag("requireNetwork")
	mount, _ := in.flag("requireStorageMount")
	files, _ := in.flag("requireFilesystem")
	c.Network, c.Storage = network, mount || files
	c.SHA256 = in.hash()
	name, digest, pinned := strings.Cut(c.Image, "@")
	switch {
	case c.Image == "":
		in.lack(c.Line, o.name+" has no container.image", "image")
		return nil
	case len(c.Image) > maxReference || !imagePattern.MatchString(c.Image):
		o.refuse(c.Line, "image %s is no reference to an image", quote(c.Image))
		return nil
	case pinned && !hashPattern.MatchString(strings.TrimPrefix(digest, "sha256:")):
		o.refuse(c.Line, "image %s has a malformed digest: expected sha256: and 64 hexadecimal digits", quote(c.Image))
		return nil
	case pinned && c.SHA256 != "" && digest != "sha256:"+c.SHA256:
		o.refuse(c.Line, "the digest of the image %s is another one than sha256", quote(name))
		return nil
	case pinned:
		c.SHA256 = strings.TrimPrefix(digest, "sha256:")
	case c.SHA256 == "":
		o.warn(c.Line, "image %s has no digest, in sha256 or behind @: what runs can change", quote(c.Image))
	}
	for i := 0; i+1 < len(in.node.Content); i += 2 {
		if key := in.node.Content[i]; key.Value == "image" {
			c.Column = key.Column
		}
	}
	return c
}

// hash returns the field sha256, with or without the prefix sha256:; empty without one.
func (o *object) hash() string {
	value, line := o.text("sha256")
	value = strings.TrimPrefix(value, "sha256:")
	entry, ok := yamlnode.Find(o.node, "sha256")
	switch {
	case !ok || value == "" && yamlnode.IsNull(entry.Value):
		return ""
	case hashPattern.MatchString(value):
		return value
	}
	if _, isText := yamlnode.Text(entry.Value); isText { // another type is reported already
		o.refuse(line, "sha256 %s is malformed: expected 64 hexadecimal digits in lower case", quote(value))
	}
	return ""
}

// exec reads programs: platforms, or platform, by which name the KEP requires it, as a list or as one.
func (o *object) exec() *Exec {
	in := o.within("exec")
	if in == nil {
		return nil
	}
	in.known("platforms", "platform")
	e, listed := &Exec{}, 0
	for _, name := range []string{"platforms", "platform"} {
		entry, ok := yamlnode.Find(in.node, name)
		if !ok || yamlnode.IsNull(entry.Value) {
			continue
		}
		elements := []*yaml.Node{entry.Value}
		if entry.Value.Kind != yaml.MappingNode {
			elements = in.elements(entry)
		}
		listed += len(elements)
		for _, element := range elements {
			if p, ok := in.platform(element); ok {
				e.Platforms = append(e.Platforms, p)
			}
		}
	}
	if listed == 0 {
		in.lack(in.line, "exec has no platforms", "platforms")
		return nil
	}
	return e
}

func (o *object) platform(element *yaml.Node) (p Platform, ok bool) {
	in := o.object(element, "a platform")
	if in == nil {
		return p, false
	}
	in.known("bin", "os", "arch", "uri", "sha256")
	p = Platform{Line: in.line, OS: in.described("os"), Arch: in.described("arch"), SHA256: in.hash()}
	in.lacks()
	var line int
	p.Bin, _ = in.text("bin")
	if p.URI, line = in.text("uri"); p.URI == "" {
		p.URI = p.Bin
	}
	if p.URI == "" {
		in.lack(in.line, "a platform has neither uri nor bin", "uri", "bin")
		return p, false
	}
	return p, in.addressed(p.URI, line, &p.SHA256, in.has("sha256"), "")
}

// addressed checks an address. A digest in it serves as the hash. written reports whether there is a field with the hash,
// which is reported already if it is malformed. more follows the error about an address without a hash.
func (r *report) addressed(uri string, line int, hash *string, written bool, more string) bool {
	_, digest, ok := strings.Cut(uri, "@sha256:")
	if ok && *hash == "" && strings.HasPrefix(uri, "oci://") && hashPattern.MatchString(digest) {
		*hash = digest
	}
	switch {
	case len(uri) > maxReference:
		r.refuse(line, "the address is longer than %d bytes", maxReference)
		return false
	case *hash != "" || written:
		return true
	case IsRemote(uri):
		r.refuse(line, "%s is remote and has no sha256: its server decides what runs%s", quote(uri), more)
		return false
	}
	r.warn(line, "%s has no sha256: it cannot be checked", quote(uri))
	return true
}

// has reports whether a field is there and not null.
func (o *object) has(name string) bool {
	value := yamlnode.Lookup(o.node, name)
	return value != nil && !yamlnode.IsNull(value)
}

// noStarlark ends the errors about scripts: an address of the script would not help.
const noStarlark = "; kustomize does not run Starlark any more: publish the function as an image"

// starlark reads a script: an address, as in the KEP, or one with a hash.
func (o *object) starlark() *Starlark {
	entry, ok := yamlnode.Find(o.node, "starlark")
	if !ok || yamlnode.IsNull(entry.Value) {
		return nil
	}
	s, line, written := &Starlark{}, entry.Line, false
	if uri, isText := yamlnode.Text(entry.Value); isText {
		s.URI = uri
	} else {
		in := o.within("starlark")
		if in == nil {
			return nil
		}
		in.known("uri", "url", "path", "sha256")
		s.SHA256, written = in.hash(), in.has("sha256")
		for _, name := range []string{"uri", "url", "path"} {
			if s.URI, line = in.text(name); s.URI != "" {
				break
			}
		}
	}
	if s.URI == "" {
		o.refuse(entry.Line, "starlark has no uri")
		return nil
	}
	if !o.addressed(s.URI, line, &s.SHA256, written, noStarlark) {
		return nil
	}
	return s
}
