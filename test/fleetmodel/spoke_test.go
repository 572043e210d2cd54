// SPDX-License-Identifier: Apache-2.0

package fleetmodel

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/render/archive"
)

// pulled is an artifact that a spoke's source-controller has, with what reviewers have approved to lose until then.
type pulled struct {
	digest  string
	granted map[string]bool
}

// spoke is a cluster with Flux.
type spoke struct {
	*Cluster
	name, target string
	// isolated is true while neither Git nor the registry is reached, and stopped while kustomize-controller applies nothing.
	isolated, stopped bool
	// guarded is true for a spoke with the policy, which reads the lines of its ConfigMap.
	guarded bool
	lines   []string
	source  *pulled
	// applied is the digest that was applied last, and moves are those of its target until then.
	applied string
	moves   int
}

// has returns the definitions that live on the spoke.
func (s *spoke) has() content { return contentOf(s.Live()) }

func contentOf(objects map[string]map[string]any) content {
	has := content{}
	for name, fields := range objects {
		has[name] = VersionsOf(fields)
	}
	return has
}

// fetch lets source-controller look into Git and the registry. It keeps its artifact where one of them fails.
func (m *model) fetch(ctx context.Context, s *spoke) error {
	digest, granted := m.hubs[1].pushed, m.edgeGranted
	fleet := "edge"
	if s.target != edge {
		at := m.main[s.target]
		if at.suspended {
			return nil
		}
		digest, granted, fleet = at.digest, m.granted[s.target], "datacenter"
	}
	switch {
	case s.isolated:
		return nil
	case s.target != edge && s.source != nil && s.source.digest == digest: // a tag has to be looked up
		s.source.granted = granted
		return nil
	case !m.store.has(digest):
		m.count["pulls of spokes that fail"]++
		return nil
	}
	if _, known := m.objects[digest]; !known {
		layer, err := m.store.pull(ctx, "rendered/"+fleet, digest)
		if err != nil {
			return err
		}
		files, err := archive.Read(ctx, bytes.NewReader(layer), archive.DefaultLimits())
		if err != nil {
			return err
		}
		built, err := Objects(files.FS(), types.NamespacedName{Namespace: "flux-system", Name: "applications"})
		if err != nil {
			return err
		}
		if has := contentOf(built); len(has.lost(m.contents[digest]))+len(m.contents[digest].lost(has)) > 0 {
			return fmt.Errorf("%s has %v, and the model knows %v", digest, has, m.contents[digest])
		}
		m.objects[digest] = built
	}
	s.source = &pulled{digest, granted}
	return nil
}

// apply lets kustomize-controller apply what the spoke has pulled, and compares what that loses with what was approved.
func (m *model) apply(s *spoke) error {
	if s.stopped || s.source == nil {
		return nil
	}
	before := s.has()
	objects, refused := s.admitted(m.objects[s.source.digest])
	if len(refused) > 0 {
		m.count["objects that the policy of a spoke refuses"] += len(refused)
	}
	if objects == nil {
		return nil
	}
	s.Apply(objects)
	if s.applied != s.source.digest {
		s.applied = s.source.digest
		m.count["artifacts that spokes apply"]++
		if s.target != edge && m.moves[s.target]-s.moves > 1 {
			m.count["artifacts that spokes apply, two moves late or more"]++
		}
		s.moves = m.moves[s.target]
	}
	lost := before.lost(s.has())
	if len(lost) == 0 {
		return nil
	}
	if left := unnamed(before.losses(s.has()), s.lines); s.guarded && len(left) > 0 {
		return fmt.Errorf("%w: %s loses %v, with the lines %v", errViolation, s.name, left, s.lines)
	}
	unapproved := slices.DeleteFunc(slices.Clone(lost), func(item string) bool { return s.source.granted[item] })
	switch {
	case len(unapproved) > 0:
		return fmt.Errorf("%w: %s (%s) loses %s by %s", errViolation, s.name, s.target, strings.Join(unapproved, ", "), s.source.digest)
	case s.target == edge:
		m.count["versions and definitions lost on spokes that follow a tag"] += len(lost)
	default:
		m.count["versions and definitions lost on spokes of stages, all approved"] += len(lost)
	}
	return nil
}

// admitted returns what of the objects the policy of a spoke lets Flux apply, and what it refuses. The loss of a version needs a
// line for it, or for any version, and stops all, because Flux tries everything first; a deletion needs the name, and the object
// stays otherwise. A line holds while it stands, and its number says nothing.
func (s *spoke) admitted(objects map[string]map[string]any) (admitted map[string]map[string]any, refused []string) {
	if !s.guarded {
		return objects, nil
	}
	is := contentOf(objects)
	refused = unnamed(s.has().losses(is), s.lines)
	admitted = maps.Clone(objects)
	for _, loss := range refused {
		if strings.Contains(loss, "/") {
			return nil, refused
		}
		admitted[loss] = s.live[loss].fields
	}
	return admitted, refused
}

// grant returns what may be lost after a move: what was granted before, and what the approved move loses, without what is
// there again.
func grant(granted map[string]bool, lost []string, now content) map[string]bool {
	next := map[string]bool{}
	is := now.items()
	for item := range granted {
		next[item] = !is[item]
	}
	for _, item := range lost {
		next[item] = true
	}
	return next
}
