package backend

// Note is something about a valid instance that does not work everywhere, or will not for long.
type Note struct {
	// Field of the instance that it is about.
	Field string
	// Message says what does not work, and what to do.
	Message string
}

// Notes returns the notes on an instance that a backend has built, or will: then it has no bundle, and there are fewer.
func Notes(backend string, instance Instance) []Note {
	if backend == ClusterExtension {
		return extensionNotes(instance)
	}
	return nil
}
