// SPDX-License-Identifier: Apache-2.0

package logo

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/each"
)

// Bounds of an SVG.
const (
	maxElements = 20_000
	maxDepth    = 100
)

const svgNamespace = "http://www.w3.org/2000/svg"

// elements of SVG that draw, or describe what is drawn. No element here runs, links, loads or changes attributes.
var elements = sets.New("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "defs", "linearGradient", "radialGradient",
	"stop", "clipPath", "mask", "pattern", "symbol", "use", "title", "desc", "metadata", "text", "tspan", "style", "image", "switch", "view", "marker",
	"filter", "feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feFlood", "feFuncA", "feFuncB", "feFuncG", "feFuncR",
	"feGaussianBlur", "feMerge", "feMergeNode", "feMorphology", "feOffset", "feTurbulence", "feDropShadow")

// namespaces of elements that editors add, and that browsers ignore.
var namespaces = sets.New("http://www.inkscape.org/namespaces/inkscape", "http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd",
	"http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://creativecommons.org/ns#", "http://web.resource.org/cc/", "http://purl.org/dc/elements/1.1/",
	"http://www.bohemiancoding.com/sketch/ns")

// checkSVG returns an error unless all of a document is known to be harmless. A document type is refused, because it declares
// entities, and so is every encoding but UTF-8.
func checkSVG(data []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	of := drawing{byID: map[string]*part{}}
	for count := 0; ; count++ {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return of.check()
		case err != nil:
			return fmt.Errorf("reading XML: %w", err)
		case count > maxElements || len(of.open) > maxDepth:
			return fmt.Errorf("it has more than %d parts, or more than %d in each other", maxElements, maxDepth)
		}
		if err := of.checkToken(token, count == 0); err != nil {
			return err
		}
	}
}

// checkToken checks a part of a document, and adds it to the drawing.
func (d *drawing) checkToken(token xml.Token, isFirst bool) error {
	switch t := token.(type) {
	case xml.StartElement:
		if err := checkElement(t, len(d.open) == 0); err != nil {
			return err
		}
		return d.begin(t)
	case xml.EndElement:
		return d.end()
	case xml.CharData:
		d.text(string(t))
	case xml.ProcInst:
		if t.Target != "xml" || !isFirst {
			return fmt.Errorf("it has the processing instruction %q", t.Target)
		}
	case xml.Directive:
		return errors.New("it has a document type")
	}
	return nil
}

func checkElement(t xml.StartElement, isRoot bool) error {
	switch {
	case isRoot && (t.Name.Space != svgNamespace || t.Name.Local != "svg"):
		return fmt.Errorf("it begins with the element %q of %q", t.Name.Local, t.Name.Space)
	case t.Name.Space == svgNamespace && !elements.Has(t.Name.Local), t.Name.Space != svgNamespace && !namespaces.Has(t.Name.Space):
		return fmt.Errorf("it has the element %q of %q", t.Name.Local, t.Name.Space)
	}
	for _, attribute := range t.Attr {
		if err := checkAttribute(t.Name.Local, attribute); err != nil {
			return err
		}
	}
	return nil
}

func checkAttribute(element string, a xml.Attr) error {
	name, value := strings.ToLower(a.Name.Local), strings.ToLower(strings.TrimSpace(a.Value))
	isPicture := element == "image" && (strings.HasPrefix(value, "data:image/png;base64,") || strings.HasPrefix(value, "data:image/jpeg;base64,"))
	switch {
	case strings.HasPrefix(name, "on"):
		return fmt.Errorf("it has the attribute %q", a.Name.Local)
	case (name == "href" || name == "src") && !strings.HasPrefix(value, "#") && !isPicture:
		return fmt.Errorf("its element %q refers to something else", element)
	case name == "base" || strings.Contains(value, "script:") || name == "href" && strings.HasPrefix(value, "#") && strings.Contains(value, "%"):
		return fmt.Errorf("it has the attribute %q", a.Name.Local)
	}
	return checkStyle(a.Value)
}

// checkStyle returns an error for CSS that may load something: a rule with @, an escape, or an address that is none of the
// document itself.
func checkStyle(text string) error {
	text = strings.ToLower(text)
	if strings.Contains(text, "@") || strings.Contains(text, `\`) || strings.Contains(text, "image-set") || strings.Contains(text, "%23") || strings.Contains(text, "/*") {
		return errors.New("it has a style that may load something")
	}
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "url(")
		if !found {
			return nil
		}
		if rest = strings.TrimLeft(after, ` "'`); !strings.HasPrefix(rest, "#") {
			return errors.New("it refers to something else in a style")
		}
	}
}

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
