// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
)

// drawing is the picture of a channel: its versions from top to bottom, the highest first, with an arc for each upgrade.
type drawing struct {
	Channel       model.Channel
	Description   string
	Width, Height int
	Nodes         []node
	Edges         []edge
}

// node is a version at a place of the drawing, with its text.
type node struct {
	Class              string
	X, Y, TextX, TextY int
	Text, Note         string
}

// edge is the path of an upgrade.
type edge struct{ Class, Path string }

// Sizes of a drawing, in pixels.
const (
	rowHeight  = 32
	margin     = 24
	perRow     = 14 // by which an arc is wider for each row that it passes
	widest     = 150
	perRune    = 8
	mostOfText = 48
)

func draw(c model.Channel) drawing {
	d := drawing{Channel: c, Height: 2*margin + max(0, len(c.Entries)-1)*rowHeight}
	bulge := 0
	for _, u := range c.Upgrades {
		bulge = max(bulge, bulgeOf(u))
	}
	x := margin + bulge
	for _, u := range c.Upgrades {
		from, to := margin+u.From*rowHeight, margin+u.To*rowHeight
		e := edge{Class: "replaces", Path: fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x, from, x-bulgeOf(u), from, x-bulgeOf(u), to, x, to)}
		if u.Skips {
			e.Class = "skips"
		}
		d.Edges = append(d.Edges, e)
	}
	longest := 0
	for i, entry := range c.Entries {
		n := node{Class: "version", X: x, Y: margin + i*rowHeight, Text: plaintext.Brief(entry.Label, mostOfText), Note: noteOf(entry)}
		n.TextX, n.TextY = x+margin, n.Y+5
		switch {
		case entry.Deprecated != "":
			n.Class = "old"
		case entry.Head:
			n.Class = "head"
		}
		longest = max(longest, utf8.RuneCountInString(n.Text+" "+n.Note))
		d.Nodes = append(d.Nodes, n)
	}
	d.Width = x + 2*margin + longest*perRune
	d.Description = fmt.Sprintf("%s and %s between them; the table below has them all", plaintext.Count(len(c.Entries), "version"), plaintext.Count(len(c.Upgrades), "upgrade"))
	return d
}

// bulgeOf returns how far the arc of an upgrade leads to the left. Neighbours are connected by a straight line.
func bulgeOf(u model.Upgrade) int {
	rows := max(u.From-u.To, u.To-u.From)
	if rows <= 1 && !u.Skips {
		return 0
	}
	return min(rows*perRow+perRow, widest)
}

func noteOf(entry model.Entry) string {
	var notes plaintext.Texts
	notes.Add(entry.Head, "head")
	notes.Add(entry.Deprecated != "", "deprecated")
	notes.Add(entry.SkipRange != "", "upgrades from %s", plaintext.Brief(entry.SkipRange, mostOfText))
	return strings.Join(notes, ", ")
}
