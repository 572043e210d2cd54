// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// pins maps the files of catalogs to the containers that get a digest.
type pins map[string][]*krmfunctions.Container

// write returns the content of the catalogs with the digests.
func (p pins) write() (map[string][]byte, error) {
	written := map[string][]byte{}
	for file, containers := range p {
		info, err := os.Lstat(file)
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("it is no regular file")
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(file)
		}
		if err == nil {
			written[file], err = pinned(text, containers)
		}
		if err != nil {
			return nil, fmt.Errorf("pinning in %s: %w", file, err)
		}
	}
	return written, nil
}

// pinned adds the field sha256 behind the images, from the last one up, so that the others keep their lines.
func pinned(text []byte, containers []*krmfunctions.Container) ([]byte, error) {
	containers = slices.Clone(containers)
	slices.SortFunc(containers, func(a, b *krmfunctions.Container) int {
		return cmp.Or(cmp.Compare(b.Line, a.Line), cmp.Compare(b.Column, a.Column))
	})
	for _, c := range containers {
		documents, err := yamledit.Documents(text)
		if err != nil {
			return nil, err
		}
		for _, document := range documents {
			pinTree(document, c)
		}
		wanted, err := yamledit.Plain(documents)
		if err != nil {
			return nil, err
		}
		ways := [][]byte{pinnedBelow(text, c), pinnedBehind(text, c)}
		proven := slices.IndexFunc(ways, func(edited []byte) bool { return edited != nil && yamledit.Proves(edited, wanted) })
		if proven < 0 {
			return nil, fmt.Errorf("line %d: the image is written in a way that is not edited here: add sha256: %s by hand", c.Line, c.SHA256)
		}
		text = ways[proven]
	}
	return text, nil
}

// pinnedBelow adds the digest in a line below the image, as in block style.
func pinnedBelow(text []byte, c *krmfunctions.Container) []byte {
	if c.Column == 0 {
		return nil
	}
	edit := yamledit.NewText(text)
	edit.Insert(c.Line, yamledit.Indented("sha256: "+c.SHA256, c.Column-1)+"\n")
	edited, _ := edit.Edited()
	return edited
}

// pinnedBehind adds the digest behind the image in its line, as in braces.
func pinnedBehind(text []byte, c *krmfunctions.Container) []byte {
	edit := yamledit.NewText(text)
	line := edit.Line(c.Line - 1)
	if c.Column == 0 || c.Column > len(line) {
		return nil
	}
	colon := bytes.IndexByte(line[c.Column-1:], ':')
	if colon < 0 {
		return nil
	}
	value := c.Column + colon
	at := bytes.Index(line[value:], []byte(c.Image))
	if at < 0 {
		return nil
	}
	at += value + len(c.Image)
	if at < len(line) && (line[at] == '"' || line[at] == '\'') {
		at++
	}
	at += edit.LineEnd(c.Line-1) - len(line)
	added := "sha256: " + c.SHA256
	if line[c.Column-1] == '"' { // as in JSON
		added = fmt.Sprintf("%q: %q", "sha256", c.SHA256)
	}
	edit.Splice(at, at, ", "+added)
	edited, _ := edit.Edited()
	return edited
}

// pinTree adds the digest to the mapping with the image.
func pinTree(node *yaml.Node, c *krmfunctions.Container) {
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Value == "image" && child.Line == c.Line && child.Column == c.Column {
			yamledit.Set(node, "sha256", yamledit.NewString(c.SHA256))
			return
		}
		pinTree(child, c)
	}
}
