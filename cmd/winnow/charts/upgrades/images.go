// SPDX-License-Identifier: Apache-2.0

package upgrades

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/images"
	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// newImages returns the risks of images of repositories that were not there before.
func newImages(s sides, mirrorOf func(string) string) (risks []diff.Risk, problems []string) {
	before, problems := find(s.from.searched)
	after, more := find(s.to.searched)
	repositories, registries := map[string]bool{}, map[string]bool{}
	for _, image := range before {
		repositories[images.Repository(image.Address)] = true
		registries[registry(image)] = true
	}
	for _, image := range after {
		if repositories[images.Repository(image.Address)] {
			continue
		}
		repositories[images.Repository(image.Address)] = true
		if sentence := imageText(image, registries, mirrorOf); sentence != "" {
			risks = append(risks, diff.Risk{
				Rule: Image, Object: excerpt.To(image.Object, 400), Field: excerpt.To(strings.TrimPrefix(image.Path, "."), 200), To: diff.JSON(image.Address), Text: sentence,
			})
		}
	}
	return risks, append(problems, more...)
}

// imageText returns what is wrong with a new image, empty for nothing.
func imageText(image images.Image, known map[string]bool, mirrorOf func(string) string) string {
	host := registry(image)
	if mirrorOf == nil {
		if known[host] {
			return ""
		}
		return fmt.Sprintf("No image was of %s before: each node must reach it, and be allowed to pull from it.", excerpt.Quoted(host))
	}
	switch at := mirrorOf(image.Address); at {
	case image.Address:
		return ""
	case "":
		return fmt.Sprintf("No mirror covers it: where nodes do not reach %s, its pods do not start. Add a mirror, and copy the image.", excerpt.Quoted(host))
	default:
		return fmt.Sprintf("A mirror covers it, at %s, but the chart does not have its address from a value that mirrors rewrite: nodes pull from %s. Set the value of the instance.",
			excerpt.Quoted(at), excerpt.Quoted(host))
	}
}

func registry(image images.Image) string {
	host, _, _ := strings.Cut(image.Address, "/")
	return host
}

// find returns the images of manifests, sorted by address, but no generated images.
func find(manifests []rendering.Manifest) (all []images.Image, problems []string) {
	for _, m := range manifests {
		found, err := images.Find(m.Text)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s cannot be searched for images: %s", excerpt.To(m.Path, 200), excerpt.Of(err.Error())))
		}
		all = append(all, slices.DeleteFunc(found, func(i images.Image) bool { return m.IsGenerated(i.Path) })...)
	}
	slices.SortStableFunc(all, func(a, b images.Image) int { return cmp.Compare(a.Address, b.Address) })
	return all, problems
}
