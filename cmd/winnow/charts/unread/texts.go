// SPDX-License-Identifier: Apache-2.0

package unread

import (
	"path"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// templates adds what the templates of a chart read, and collects the named templates of it and the charts in it. The files
// of a chart in it have no values but their own.
func (r *reads) templates(c *chart.Chart, named map[string]*reads, isBelow bool) {
	for _, file := range c.Templates {
		trees, err := parsed(string(file.Data))
		r.entirely(err != nil)
		for name, tree := range trees {
			switch {
			case name != fileTemplate:
				if named[name] == nil {
					named[name] = newReads()
				}
				named[name].tree(tree, other)
			case !isBelow:
				r.tree(tree, top)
			}
		}
	}
	for _, sub := range c.Dependencies() {
		r.templates(sub, named, true)
	}
}

// evaluated adds what is read by all that function tpl may be given: the files of a chart, and the texts in its values.
func (r *reads) evaluated(c *chart.Chart) {
	for _, file := range c.Files {
		if path.Ext(file.Name) != ".md" { // those are for people
			r.text(string(file.Data))
		}
	}
	r.strings(c.Values)
	for _, sub := range c.Dependencies() {
		r.evaluated(sub)
	}
}

// strings adds what the texts in a value read.
func (r *reads) strings(value any) {
	switch v := value.(type) {
	case string:
		r.text(v)
	case []any:
		for _, element := range v {
			r.strings(element)
		}
	case map[string]any:
		for _, element := range v {
			r.strings(element)
		}
	}
}
