// SPDX-License-Identifier: Apache-2.0

package unread

import "maps"

// reads are the keys that a template reads.
type reads struct {
	keys map[string]bool
	// all reports whether it uses the values as a whole.
	all bool
	// calls are the named templates that it includes. It includes any if a name is not in its text.
	calls    map[string]bool
	callsAny bool
	// evaluates reports whether it makes templates of texts.
	evaluates bool
}

func newReads() *reads { return &reads{keys: map[string]bool{}, calls: map[string]bool{}} }

// add adds what another template reads.
func (r *reads) add(other *reads) {
	maps.Copy(r.keys, other.keys)
	maps.Copy(r.calls, other.calls)
	r.all = r.all || other.all
	r.callsAny = r.callsAny || other.callsAny
	r.evaluates = r.evaluates || other.evaluates
}

// follow adds what the included templates read, and the templates that they include.
func (r *reads) follow(named map[string]*reads) {
	followed := map[string]bool{}
	for added := true; added; {
		added = false
		for name, template := range named {
			if !followed[name] && (r.callsAny || r.calls[name]) {
				r.add(template)
				followed[name], added = true, true
			}
		}
	}
}

// entirely notes that the values are used as a whole, if they are.
func (r *reads) entirely(used bool) { r.all = r.all || used }
