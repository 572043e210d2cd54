// SPDX-License-Identifier: Apache-2.0

package logo

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
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
