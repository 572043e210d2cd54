package lint

// Rules of what stands beside a CatalogSelection with instances. Run does not find them: it knows catalogs only.
const (
	// DependencyRule: a package requires what the catalogs have and the selection leaves out.
	DependencyRule = "selection/dependency"
	// MovingSourceRule: the versions of instances follow a source that moves.
	MovingSourceRule = "selection/moving-source"
	// NoWaitRule: nothing tells that a release has failed.
	NoWaitRule = "selection/no-wait"
	// NoteRule: an instance does not work everywhere.
	NoteRule = "selection/note"
	// RenamedRule: the Kustomization renames or moves the objects of instances.
	RenamedRule = "selection/renamed"
)

// SelectionRules returns the rules of selections, sorted by identifier.
func SelectionRules() []Rule {
	return []Rule{
		{DependencyRule, Warning, "the selected packages of OLM have what they require of the catalogs"},
		{MovingSourceRule, Warning, "instances with a range, or the default version, have a pinned source"},
		{NoWaitRule, Warning, "the Kustomization that applies instances has wait: true"},
		{NoteRule, Warning, "OLM, of any release, installs what instances of packages ask for"},
		{RenamedRule, Warning, "the Kustomization that applies instances leaves their names and namespaces alone"},
	}
}
