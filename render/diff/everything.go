package diff

// OfEverything clears the fields that depend on a CatalogSelection: its name, the revisions, whether Flux
// deletes removed definitions, the checksums to approve, sources to add, and notes on names that no catalog has.
func (s *Selection) OfEverything() {
	s.Everything, s.Namespace, s.Name = true, "", ""
	s.From.Revision, s.To.Revision = "", ""
	s.Counts.Deleted, s.Notes = 0, []string{}
	for i := range s.Applications {
		s.Applications[i].Deleted = nil
	}
	if s.Held != nil {
		s.Held.Approve, s.Held.Render, s.Held.SecondSources = []string{}, "", nil
	}
}

// Shorten replaces the fields and diffs of each application and instance by their numbers.
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
			a.Package.shorten()
		}
		for i := range s.Instances {
			in := &s.Instances[i]
			in.Fields, in.FieldsOmitted = nil, in.FieldsOmitted+len(in.Fields)
			if in.Values != nil {
				in.Values.Cut(0)
			}
		}
	}
}
