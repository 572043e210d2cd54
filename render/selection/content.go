// SPDX-License-Identifier: Apache-2.0

package selection

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection/numbered"
)

// The versions of applications that are no objects, which a content keeps by channel.

// KeepError is returned for a content that cannot keep what the rules for versions leave.
type KeepError struct {
	// Application is the name of the application.
	Application string
	// Err explains why, for people.
	Err error
}

func (e *KeepError) Error() string { return fmt.Sprintf("application %s: %v", e.Application, e.Err) }

// Unwrap returns the cause.
func (e *KeepError) Unwrap() error { return e.Err }

// keepContent narrows the versions of each channel of a content by every rule in turn, and keeps the rest. It returns
// the reason why nothing is left.
func keepContent(rules []VersionRule, decision *Decision) (reason string, err error) {
	application := decision.Application
	left := pairs{}
	allowed := sets.New(decision.Versions...)
	for _, channel := range application.Content.Channels() {
		left.add(channel, slices.DeleteFunc(slices.Clone(channel.Versions), func(v string) bool { return !allowed.Has(v) }))
	}
	var keep catalog.Keep
	concerned := len(decision.Versions) < len(application.Versions)
	for _, rule := range rules {
		if !rule.concerns(application) {
			continue
		}
		narrowed := rule.narrow(left, application.Metadata.Versions)
		if len(narrowed.versions) == 0 {
			return rule.refusal(decision), nil
		}
		left, concerned = narrowed, true
		keep.DefaultChannel, keep.Strict = cmp.Or(rule.DefaultChannel, keep.DefaultChannel), keep.Strict || rule.Strict
		decision.Versions = slices.DeleteFunc(slices.Clone(application.Versions), func(v string) bool { return !left.versions[v] })
	}
	if !concerned {
		decision.Kept = application.Content
		return "", nil
	}
	keep.Version = left.has
	kept, repairs, err := application.Content.Keep(keep)
	if err != nil {
		return "", &KeepError{Application: application.Name, Err: err}
	}
	stays := pairs{}
	for _, channel := range kept.Channels() {
		stays.add(channel, channel.Versions)
	}
	decision.Kept, decision.Repairs = kept, repairs
	decision.Versions = slices.DeleteFunc(slices.Clone(application.Versions), func(v string) bool { return !stays.versions[v] })
	return "", nil
}

// pairs are the versions of channels that are left.
type pairs struct {
	channels []catalog.Channel
	kept     map[[2]string]bool
	versions map[string]bool
}

func (p *pairs) add(channel catalog.Channel, versions []string) {
	if p.kept == nil {
		p.kept, p.versions = map[[2]string]bool{}, map[string]bool{}
	}
	channel.Versions = versions
	p.channels = append(p.channels, channel)
	for _, version := range versions {
		p.kept[[2]string{channel.Name, version}], p.versions[version] = true, true
	}
}

func (p *pairs) has(channel, version string) bool { return p.kept[[2]string{channel, version}] }

// narrow returns the pairs that satisfy all criteria.
func (r VersionRule) narrow(all pairs, facts metadata.Versions) pairs {
	var left pairs
	for _, channel := range all.channels {
		if len(r.channels) > 0 && !r.channels.Has(channel.Name) || r.dropsDeprecated() && channel.Deprecated != "" {
			continue
		}
		stay := slices.DeleteFunc(slices.Clone(channel.Versions), func(version string) bool {
			known := facts.Of(version)
			return !r.admits(numbered.Of([]string{known.Numbered()})[0], known)
		})
		if r.Latest > 0 {
			stay = stay[:min(len(stay), int(r.Latest))]
		}
		left.add(channel, stay)
	}
	return left
}
