package diff

// OfEverything takes out what only a CatalogSelection decides: what it is called, whether Flux deletes
// what leaves, which checksum approves it, and what it mentions that no catalog has.
func (s *Selection) OfEverything() {
	s.Everything, s.Namespace, s.Name = true, "", ""
	s.From.Revision, s.To.Revision = "", ""
	s.Counts.Deleted, s.Notes = 0, []string{}
	for i := range s.Applications {
		s.Applications[i].Deleted = nil
	}
	if s.Held != nil {
		s.Held.Approve, s.Held.Render = []string{}, ""
	}
}

// Shorten leaves of each application what can be counted: of fields and lines only how many there are.
func (r *Report) Shorten() {
	for _, s := range r.Selections {
		for i := range s.Applications {
			a := &s.Applications[i]
			a.Fields, a.FieldsOmitted = []Field{}, a.FieldsOmitted+len(a.Fields)
			for j := range a.Versions {
				v := &a.Versions[j]
				v.Fields, v.FieldsOmitted = nil, v.FieldsOmitted+len(v.Fields)
			}
			if a.Values != nil {
				a.Values.Cut(0)
			}
		}
	}
}
