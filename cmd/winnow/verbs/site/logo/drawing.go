// SPDX-License-Identifier: Apache-2.0

package logo

import (
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/winnow-dev/winnow/render/each"
)

// maxDrawn bounds the elements that are drawn: elements that refer to others draw them again, and these others.
const maxDrawn = 100_000

// part is an element of an SVG.
type part struct {
	name     xml.Name
	children []*part
	// targets are the ids that it refers to.
	targets []string
	// drawn is the number of elements that are drawn for it; zero if it is not known.
	drawn int
}

// isGradient reports whether an element is a gradient, which draws nothing and often refers to another one.
func (p *part) isGradient() bool {
	return p.name.Local == "linearGradient" || p.name.Local == "radialGradient"
}

// drawing is an SVG that is read up to somewhere.
type drawing struct {
	root *part
	// open are the elements that have not ended, and byID has elements by id.
	open []*part
	byID map[string]*part
	// style is the text of a style element, and styled are the ids that all of them refer to.
	style  strings.Builder
	styled []string
}

// inURL matches the id that a style refers to.
var inURL = regexp.MustCompile(`(?i)url\(\s*["']?\s*#([^"')]*)`)

func idsIn(style string) (ids []string) {
	return each.Map(inURL.FindAllStringSubmatch(style, -1), func(match []string) string { return match[1] })
}

// begin adds an element.
func (d *drawing) begin(t xml.StartElement) error {
	p := &part{name: t.Name}
	if len(d.open) == 0 {
		d.root = p
	} else {
		above := d.open[len(d.open)-1]
		if above.name.Local == "style" {
			return fmt.Errorf("it has the element %q in a style", t.Name.Local)
		}
		above.children = append(above.children, p)
	}
	d.open = append(d.open, p)
	for _, a := range t.Attr {
		switch id, isID := strings.CutPrefix(strings.TrimSpace(a.Value), "#"); {
		case a.Name.Local == "id" && a.Name.Space != "":
			return errors.New("it has an id in a namespace")
		case a.Name.Local == "id" && d.byID[a.Value] == nil:
			d.byID[a.Value] = p
		case a.Name.Local == "href" && isID:
			p.targets = append(p.targets, id)
		default:
			p.targets = append(p.targets, idsIn(a.Value)...)
		}
	}
	return nil
}

// end ends the last element that is open.
func (d *drawing) end() error {
	last := d.open[len(d.open)-1]
	d.open = d.open[:len(d.open)-1]
	if last.name.Local != "style" {
		return nil
	}
	text := d.style.String()
	d.style.Reset()
	d.styled = append(d.styled, idsIn(text)...)
	return checkStyle(text)
}

// text adds text to a style. Browsers read what stands between comments as one text.
func (d *drawing) text(text string) {
	if len(d.open) > 0 && d.open[len(d.open)-1].name.Local == "style" {
		d.style.WriteString(text)
	}
}

// check returns an error for a drawing that is none, or that would take a browser too long.
func (d *drawing) check() error {
	if d.root == nil {
		return errors.New("it has no element")
	}
	for _, id := range d.styled { // how many elements have the style is not known
		if p := d.byID[id]; p != nil && !p.isGradient() {
			return fmt.Errorf("a style refers to the element %q, which is no gradient", p.name.Local)
		}
	}
	if d.count(d.root) > maxDrawn {
		return fmt.Errorf("it draws more than %d elements, or an element within itself", maxDrawn)
	}
	return nil
}

// count returns the number of elements that are drawn for one, more than maxDrawn if it refers to itself.
func (d *drawing) count(p *part) int {
	if p == nil || p.isGradient() {
		return 1
	}
	if p.drawn > 0 {
		return p.drawn
	}
	p.drawn = maxDrawn + 1
	sum := 1
	for _, child := range p.children {
		sum = min(sum+d.count(child), maxDrawn+1)
	}
	for _, id := range p.targets {
		sum = min(sum+d.count(d.byID[id]), maxDrawn+1)
	}
	p.drawn = sum
	return sum
}
