// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/render/yamledit"
)

// concerns reports whether addresses are looked for.
func (m mirrors) concerns(Input) bool { return m.enabled }

// apply rewrites the addresses of the sources of versions first, then those in the default values.
func (m mirrors) apply(_ Input, doc *yamledit.Document, out *Output) *Error {
	const field = "spec.mirrors"
	s := search{mirrors: m, doc: doc, out: out, servers: map[int]*yaml.Node{}}
	for i, source := range sources(doc) {
		s.source(source, fmt.Sprintf("spec.versions[%d].template.source", i), i)
	}
	if failure := s.failed(); failure != nil {
		return failure
	}
	err := doc.Flush()
	if err == nil {
		err = setServers(doc, s.servers)
	}
	if err != nil {
		return failed(field, err)
	}
	d, err := openDefaults(doc)
	if err != nil {
		out.Unreadable = err.Error()
		return nil
	}
	if d == nil {
		return nil
	}
	s.doc = d.inner
	s.values(d.mapping, "spec."+d.name, key{})
	return failed(field, d.close())
}
