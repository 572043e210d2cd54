// SPDX-License-Identifier: Apache-2.0

package diff

// Shorten replaces the fields and diffs of each application and instance with their numbers.
func (r *Report) Shorten() {
	for _, s := range r.Selections {
		for i := range s.Applications {
			a := &s.Applications[i]
			a.Fields, a.FieldsOmitted = []Field{}, a.FieldsOmitted+len(a.Fields)
			for j := range a.Versions {
				v := &a.Versions[j]
				v.Fields, v.FieldsOmitted = nil, v.FieldsOmitted+len(v.Fields)
			}
			a.Values.Cut(0)
			a.Package.shorten()
		}
		for _, c := range s.Charts {
			c.Diff.Cut(0)
		}
		for i := range s.Instances {
			in := &s.Instances[i]
			in.Fields, in.FieldsOmitted = nil, in.FieldsOmitted+len(in.Fields)
			in.Values.Cut(0)
		}
	}
}
