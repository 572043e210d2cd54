// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/functions/configs"
	"github.com/winnow-dev/winnow/cmd/winnow/functions/workspace"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/krmfunctions"
)

// trust reports the catalogs that kustomizations name and that the user has not consented to.
func (r *resolver) trust() {
	for _, l := range r.Layers {
		for i, one := range l.Catalogs {
			reference, err := r.reference(l, one.Text)
			trusted := slices.IndexFunc(r.Trusted, func(given string) bool { return trusts(given, reference) })
			switch {
			case err != nil:
				r.Add(l.File, one.Line, "the catalog %s %v", excerpt.Quoted(one.Text), err)
			case trusted < 0:
				if address, digest := SplitDigest(reference); digest == "" && strings.HasPrefix(address, HTTPS) {
					reference += "@sha256:DIGEST"
				}
				r.Add(l.File, one.Line, "the catalog %s is not trusted, and decides what runs on this machine: look at it with winnow functions view, and pass --trusted-catalog %s",
					excerpt.Quoted(one.Text), argument(reference))
			default:
				l.Catalogs[i].Text = r.Trusted[trusted]
			}
		}
	}
}

// trusts reports whether a reference of --trusted-catalog matches the reference of a kustomization, which may omit the
// digest of a file on a web server if the trusted reference has it.
func trusts(given, reference string) bool {
	address, digest := SplitDigest(given)
	return given == reference || digest != "" && address == reference
}

// argument returns a text of a file as a shell takes it for one word: a person may copy it from a message.
func argument(text string) string {
	if plainArgument.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var plainArgument = regexp.MustCompile(`^[A-Za-z0-9._/:@%+][A-Za-z0-9._/:@%+-]*$`)

// reference converts the name of a catalog in a kustomization to the form of --trusted-catalog. Paths become relative
// to Dir, so that trust in a file of one base does not extend to the file of another base.
func (r *resolver) reference(l *configs.Layer, reference string) (string, error) {
	switch {
	case isAbsolute(reference):
		return reference, nil
	case krmfunctions.IsRemote(reference), configs.LooksRemote(reference):
		return "", fmt.Errorf("is neither a path, https:// nor oci://: copy the file beside the kustomization, or push the catalog to a registry")
	}
	name, err := workspace.Join(l.Dir, reference)
	if err != nil {
		return "", err
	}
	if _, err := r.Files.Stat(name); err != nil {
		return "", err
	}
	relative, err := filepath.Rel(filepath.FromSlash(r.Dir), filepath.FromSlash(name))
	return filepath.ToSlash(relative), err
}

// lookup returns the first catalog with the function of a config: first of the user's catalogs, and then of the layer's. It
// opens no more catalogs than it needs. Without one, missing is the reason.
func (r *resolver) lookup(ctx context.Context, c *configs.Config, l *configs.Layer) (s *Source, f *krmfunctions.Function, v *krmfunctions.Version, missing string, _ error) {
	var near, similar []string
	references := slices.Concat(r.Catalogs, each.Map(l.Catalogs, func(one configs.Entry) string { return r.located(one.Text) }))
	for i, reference := range references {
		s, err := r.open(ctx, reference)
		if named := i - len(r.Catalogs); err != nil && named >= 0 {
			err = fmt.Errorf("%s:%d: %w", r.Show(l.File), l.Catalogs[named].Line, err)
		}
		if err != nil {
			return nil, nil, nil, "", err
		}
		if invalid := s.Invalid(c.Kind + "." + c.Group); invalid != nil {
			first := invalid.Kept[0]
			first.Path = s.Locate(first.Path)
			return nil, nil, nil, "has no runtime, and its function is invalid: " + first.String(), nil
		}
		f, v := s.Find(c.Group, c.Version, c.Kind)
		if v != nil {
			return s, f, v, "", nil
		}
		if f != nil {
			versions := excerpt.List(f.Versions, maxNamed, func(v *krmfunctions.Version) string { return v.Name })
			near = append(near, fmt.Sprintf("%s has it in %s", s.Reference, versions))
		}
		similar = append(similar, s.similar(c)...)
	}
	return nil, nil, nil, why(near, similar, len(references)), nil
}

// why returns why a config gets no runtime.
func why(near, similar []string, catalogs int) string {
	switch {
	case len(near) > 0:
		return "is in no catalog: " + strings.Join(near, "; ")
	case catalogs == 0:
		return "has no runtime, and there is no catalog: pass --catalog CATALOG"
	case len(similar) > 0:
		return "has no runtime, and no catalog has it; did you mean " + strings.Join(similar[:min(len(similar), maxNamed)], " or ") + "?"
	}
	return "has no runtime, and no catalog has it"
}

// located returns a reference of a kustomization as one of the working directory.
func (r *resolver) located(reference string) string {
	if isAbsolute(reference) {
		return reference
	}
	return filepath.Join(r.Root, filepath.FromSlash(path.Join(r.Dir, reference)))
}

// open opens a catalog once.
func (r *resolver) open(ctx context.Context, reference string) (*Source, error) {
	if s := r.sources[reference]; s != nil {
		return s, nil
	}
	s, err := r.Open(ctx, reference)
	if err != nil {
		return nil, err
	}
	r.sources[reference] = s
	if len(s.Violations.Kept) > 0 {
		r.Note("%s has functions that are invalid, and the others are used: winnow functions view lists them", s.Reference)
	}
	return s, nil
}

// HTTPS begins the address of a catalog on a web server.
const HTTPS = "https://"

// digestedPattern is the address of a file on a web server with the digest of its content.
var digestedPattern = regexp.MustCompile(`^(https://.+)@sha256:([a-f0-9]{64})$`)

// SplitDigest splits https://host/path@sha256:digest into the address and the digest in hexadecimal digits. The digest is
// empty for an address without one.
func SplitDigest(reference string) (address, digest string) {
	if parts := digestedPattern.FindStringSubmatch(reference); parts != nil {
		return parts[1], parts[2]
	}
	return reference, ""
}

// isAbsolute reports whether a reference is an address, and not a path.
func isAbsolute(reference string) bool {
	return strings.HasPrefix(reference, "oci://") || strings.HasPrefix(reference, HTTPS)
}
