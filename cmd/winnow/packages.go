package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/filebased"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/selection"
)

// maxListed bounds the values of a list about a package of operators in output for people.
const maxListed = 20

// maxDescription bounds a description in such output, in bytes.
const maxDescription = 300

// packageSummary is what list and explain say about a package of operators, and show too.
type packageSummary struct {
	DefaultChannel string           `json:"defaultChannel"`
	Channels       []channelSummary `json:"channels"`
}

type channelSummary struct {
	Name string `json:"name"`
	// Head is the name of the bundle to which OLM upgrades, and Number its version.
	Head   string `json:"head"`
	Number string `json:"number"`
	// Entries counts the versions.
	Entries    int    `json:"entries"`
	Deprecated string `json:"deprecated,omitempty"`
}

// summarizePackage returns the channels of a content; nil of one that is no package of operators.
func summarizePackage(content catalog.Content) *packageSummary {
	of := catalog.PackageOf(content)
	if of == nil {
		return nil
	}
	heads := of.Heads()
	summary := &packageSummary{DefaultChannel: of.DefaultChannel, Channels: []channelSummary{}}
	for _, channel := range of.Channels {
		one := channelSummary{Name: channel.Name, Entries: len(channel.Entries), Deprecated: channel.Deprecated}
		if head := heads[channel.Name]; head != nil {
			one.Head, one.Number = head.Name, head.Version.String()
		}
		summary.Channels = append(summary.Channels, one)
	}
	return summary
}

// summarizeKept returns the channels that a selection keeps; those of the catalog where it does not select the package.
func summarizeKept(d selection.Decision) *packageSummary {
	if d.Selected && d.Kept != nil {
		return summarizePackage(d.Kept)
	}
	return summarizePackage(d.Application.Content)
}

// lines describes the channels for people.
func (s *packageSummary) lines() []string {
	if s == nil {
		return nil
	}
	all := []string{"default channel: " + excerpt.Of(s.DefaultChannel)}
	for _, c := range s.Channels[:min(len(s.Channels), maxListed)] {
		text := fmt.Sprintf("channel %s: head %s, %s", excerpt.Of(c.Name), excerpt.Of(c.Number), plaintext.Count(c.Entries, "version"))
		if c.Deprecated != "" {
			text += "; deprecated: " + c.Deprecated
		}
		all = append(all, text)
	}
	if more := len(s.Channels) - maxListed; more > 0 {
		all = append(all, plaintext.Count(more, "further channel"))
	}
	return all
}

// repairLines returns the first repairs for people, and the number of the others.
func repairLines(repairs []string) []string {
	all := slices.Clone(repairs[:min(len(repairs), maxListed)])
	if more := len(repairs) - maxListed; more > 0 {
		all = append(all, plaintext.Count(more, "further repair"))
	}
	return all
}

// labelsOf returns what people see of versions.
func labelsOf(versions []string, facts []versionFacts) []string {
	labels := make(map[string]string, len(facts))
	for _, f := range facts {
		labels[f.Version] = f.Number
	}
	shown := make([]string, len(versions))
	for i, version := range versions {
		if shown[i] = version; labels[version] != "" {
			shown[i] = labels[version]
		}
	}
	return shown
}

// shownPackage is what show has of a package of operators beside its versions.
type shownPackage struct {
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Provider    string   `json:"provider,omitempty"`
	Maintainers []string `json:"maintainers,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	packageSummary
	// The rest is that of the head of the default channel. InstallModes are null where they are not known.
	InstallModes  []string        `json:"installModes"`
	Provides      []filebased.GVK `json:"provides"`
	Requires      []string        `json:"requires"`
	RelatedImages int             `json:"relatedImages"`
}

// showPackage returns what the catalog has of a package of operators; nil of other applications.
func showPackage(a *catalog.Application) *shownPackage {
	of := a.Package()
	if of == nil {
		return nil
	}
	about := of.About()
	shown := &shownPackage{
		Title: about.DisplayName, Description: about.Description, Provider: about.Provider, Maintainers: about.Maintainers,
		Keywords: about.Keywords, packageSummary: *summarizePackage(a.Content), Provides: []filebased.GVK{}, Requires: []string{},
	}
	head := of.Heads()[of.DefaultChannel]
	if head == nil {
		return shown
	}
	shown.InstallModes = head.InstallModes
	shown.Provides = append(shown.Provides, head.Provides...)
	for _, on := range head.Dependencies {
		shown.Requires = append(shown.Requires, on.String())
	}
	if head.Blob != nil {
		images, _ := head.Blob.Object()["relatedImages"].([]any)
		shown.RelatedImages = len(images)
	}
	return shown
}

// facts are lines of a label and a text.
func (p *shownPackage) facts() [][2]string {
	if p == nil {
		return nil
	}
	var apis []string
	for _, api := range p.Provides {
		apis = append(apis, api.Group+"/"+api.Version+" "+api.Kind)
	}
	modes := strings.Join(p.InstallModes, ", ")
	if p.InstallModes == nil {
		modes = "not known"
	}
	images := ""
	if p.RelatedImages > 0 {
		images = fmt.Sprint(p.RelatedImages)
	}
	all := [][2]string{
		{"title", p.Title}, {"description", excerpt.To(strings.Join(strings.Fields(p.Description), " "), maxDescription)}, {"provider", p.Provider},
		{"maintainers", excerpt.Names(p.Maintainers, maxListed)}, {"install modes", modes}, {"provides", excerpt.Names(apis, maxListed)},
		{"requires", excerpt.Names(p.Requires, maxListed)}, {"related images", images},
	}
	for _, line := range p.lines() {
		label, text, _ := strings.Cut(line, ": ")
		all = append(all, [2]string{label, text})
	}
	return all
}
