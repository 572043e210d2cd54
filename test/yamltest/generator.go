// SPDX-License-Identifier: Apache-2.0

// Package yamltest generates YAML for tests that compare readers. It must not know any of them.
package yamltest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generator writes documents with what readers of YAML disagree on.
type Generator struct {
	*rand.Rand

	anchors int
}

// New returns a Generator that writes the same documents for the same seeds.
func New(seed, stream uint64) *Generator {
	return &Generator{Rand: rand.New(rand.NewPCG(seed, stream))}
}

// Of returns one of all.
func (g *Generator) Of(all ...string) string { return all[g.IntN(len(all))] }

func (g *Generator) key() string {
	if g.IntN(8) > 0 {
		return g.Of("a", "b", "c", "d", `"a"`, `"8"`, `"true"`)
	}
	return g.Of("yes", "no", "on", "y", "N", "true", "1", "1.10", "0x50", "010", "8", "~", "2021-01-01", `"<<"`, "[a]")
}

func (g *Generator) scalar() string {
	return g.Of("1", "x", `"x"`, "yes", "No", "on", "OFF", "y", "n", "true", "~", "", "null", "2021-01-01", "2001-12-14t21:59:43.10-05:00",
		"017", "0o17", "0b11", "0x1F", "1_000", "1e3", "1.10", "1:30", "+1", "9007199254740993", "18446744073709551615", "99999999999999999999",
		".inf", ".nan", "1e400", `"yes"`, `"2021-01-01"`, "'017'", "!!str 1", "!!int x", "!!float 1", "[1, no, 2021-01-01]", "{a: no}", "{}",
		"{a: , b}", "[~, {a}]", "{a: !!null , b: 1}", "!!null ''", "[[], [1: ]]")
}

// Mapping returns the lines of a mapping in block style. Its aliases have their anchors in it.
func (g *Generator) Mapping() []string {
	g.anchors = 0
	return g.mapping(0)
}

func (g *Generator) mapping(depth int) (lines []string) {
	for range 1 + g.IntN(4) {
		switch key := g.key(); {
		case g.anchors > 0 && g.IntN(4) == 0:
			lines = append(lines, "<<: "+g.Of(g.alias(), g.alias(), "["+g.alias()+", {a: 5, d: yes}]", "{a: 7, yes: 8}", "~"))
		case depth < 3 && g.IntN(3) == 0:
			head := key + ":"
			if strings.HasPrefix(key, "[") {
				head = "? " + key + "\n:"
			}
			below := g.mapping(depth + 1)
			if g.IntN(2) == 0 {
				g.anchors++
				head += fmt.Sprintf(" &m%d", g.anchors)
			}
			lines = append(lines, head)
			for _, line := range below {
				lines = append(lines, "  "+line)
			}
		default:
			lines = append(lines, key+": "+g.scalar())
		}
	}
	return lines
}

func (g *Generator) alias() string { return fmt.Sprintf("*m%d", 1+g.IntN(g.anchors)) }

// Text returns a stream, of one or more documents or none, that begins with a mapping or an empty document.
func (g *Generator) Text() string {
	text := g.Of("", "", "", "---\n", "---\n---\n", "# a\n") + strings.Join(g.Mapping(), "\n") + "\n"
	return text + g.Of("", "", "", "---\nb: 2\n", "...\nb: 2\n", "---\n", "# z\n")
}
