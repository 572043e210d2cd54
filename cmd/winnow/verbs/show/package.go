// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/report"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// shownPackage is what show has of a package of operators beside its versions.
type shownPackage struct {
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Provider    string   `json:"provider,omitempty"`
	Maintainers []string `json:"maintainers,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	report.Package
	// The rest is of the head of the default channel. InstallModes are null where they are not known.
	InstallModes  []string        `json:"installModes"`
	Provides      []filebased.GVK `json:"provides"`
	Requires      []string        `json:"requires"`
	RelatedImages int             `json:"relatedImages"`
}

// maxDescription bounds a description in such output, in bytes.
const maxDescription = 300

// showPackage returns what the catalog has of a package of operators; nil of other applications.
func showPackage(a *catalog.Application) *shownPackage {
	of := a.Package()
	if of == nil {
		return nil
	}
	about := of.About()
	shown := &shownPackage{
		Title: about.DisplayName, Description: about.Description, Provider: about.Provider, Maintainers: about.Maintainers,
		Keywords: about.Keywords, Package: *report.SummarizePackage(a.Content), Provides: []filebased.GVK{}, Requires: []string{},
	}
	head := of.Heads()[of.DefaultChannel]
	if head == nil {
		return shown
	}
	shown.InstallModes = head.InstallModes
	shown.Provides = append(shown.Provides, head.Provides...)
	shown.Requires = append(shown.Requires, each.Map(head.Dependencies, filebased.Dependency.String)...)
	shown.RelatedImages = len(head.RelatedImages)
	return shown
}

// facts are labels, each with its text.
func (p *shownPackage) facts() []string {
	if p == nil {
		return nil
	}
	apis := each.Map(p.Provides, func(api filebased.GVK) string { return api.Group + "/" + api.Version + " " + api.Kind })
	modes := strings.Join(p.InstallModes, ", ")
	if p.InstallModes == nil {
		modes = "not known"
	}
	images := ""
	if p.RelatedImages > 0 {
		images = fmt.Sprint(p.RelatedImages)
	}
	all := []string{
		"title", p.Title, "description", excerpt.To(strings.Join(strings.Fields(p.Description), " "), maxDescription), "provider", p.Provider,
		"maintainers", excerpt.Names(p.Maintainers, report.MaxListed), "install modes", modes, "provides", excerpt.Names(apis, report.MaxListed),
		"requires", excerpt.Names(p.Requires, report.MaxListed), "related images", images,
	}
	for _, line := range p.Lines() {
		label, text, _ := strings.Cut(line, ": ")
		all = append(all, label, text)
	}
	return all
}
