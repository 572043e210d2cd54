// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
	"github.com/winnow-dev/winnow/render/each"
)

// Pages at the root.
const (
	frontPage = "index.html"
	fleetPage = "fleet.html"
	// clustersPage lists the clusters of the fleet, which have pages of their own.
	clustersPage = "clusters.html"
)

// paths has the files of what has a page of its own.
type paths struct {
	catalogs     map[*model.Catalog]string
	applications map[*model.Application]string
	clusters     map[*model.Cluster]string
}

func newPaths(site *model.Site) paths {
	p := paths{map[*model.Catalog]string{}, map[*model.Application]string{}, map[*model.Cluster]string{}}
	dirs := map[string]bool{}
	for _, c := range site.Catalogs {
		dir := "catalogs/" + free(c.Name, c.Address, dirs)
		p.catalogs[c] = dir + "/index.html"
		files := map[string]bool{}
		for _, a := range c.Applications {
			p.applications[a] = dir + "/applications/" + free(a.Name, a.Kind+" "+a.Name, files) + ".html"
		}
	}
	if site.Fleet != nil {
		files := map[string]bool{}
		for _, c := range site.Fleet.Members {
			p.clusters[c] = "clusters/" + free(path.Base(c.Name), c.Stage+" "+c.Name, files) + ".html"
		}
	}
	return p
}

// maxName bounds a name of a file, in bytes.
const maxName = 80

// free returns a name of a file for a text, which is not taken yet, and takes it. A text that is no such name
// gets one with a digest of what identifies it.
func free(text, identity string, taken map[string]bool) string {
	name := sanitized(text)
	if name == "" || name != text || taken[name] {
		name = strings.Trim(name, ".-") + "-" + fmt.Sprintf("%x", sha256.Sum256([]byte(text+"\n"+identity)))[:12]
	}
	for base, n := name, 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	taken[name] = true
	return name
}

// sanitized returns a text in lower case, with its characters that are safe in every file system and address.
func sanitized(text string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(text) {
		isSafe := r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || out.Len() > 0 && (r == '-' || r == '.')
		if isSafe && out.Len() < maxName {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// rootOf returns the way from a file to the root of the site.
func rootOf(file string) string { return strings.Repeat("../", strings.Count(file, "/")) }

// rowLink leads to the page of an application, if it has one.
type rowLink struct{ Root, Href, Text string }

// linkOf returns the link of an application of a row, which may be nil, for a page with a way to the root. The text has the name
// of the catalog where several have the application.
func (p paths) linkOf(root string, row *model.Row, a *model.Application) rowLink {
	link := rowLink{Root: root, Href: p.applications[a], Text: row.Name}
	if a != nil && len(row.Applications) > 1 {
		link.Text += " of " + a.Catalog.Name
	}
	return link
}

// linksOf returns the links of a row: one for each catalog, or one that leads nowhere.
func (p paths) linksOf(root string, row *model.Row) (all []rowLink) {
	all = each.Map(row.Applications, func(a *model.Application) rowLink { return p.linkOf(root, row, a) })
	if len(all) == 0 {
		all = append(all, p.linkOf(root, row, nil))
	}
	return all
}
