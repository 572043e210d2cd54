// SPDX-License-Identifier: Apache-2.0

// Package field reads the fields of definitions, which are untrusted: a value with another type, or one that is
// not valid, is a problem with the path of the field. It must not know which fields exist.
package field

import (
	"maps"
	"slices"
	"time"

	"github.com/winnow-dev/winnow/render/backend"
	"github.com/winnow-dev/winnow/render/excerpt"
)

// Field is a part of a definition, with its path. A missing one has the value nil. What has the wrong type
// is a problem.
type Field struct {
	reader reader
	Path   string
	value  any
}

// reader is the backend that reads a definition, and what collects the problems with its fields.
type reader struct {
	backend string
	report  func(path, format string, args ...any)
}

// At returns the part of a definition at a path that a backend reads. report gets the problems with it.
func At(path string, value any, backend string, report func(path, format string, args ...any)) Field {
	return Field{reader: reader{backend, report}, Path: path, value: value}
}

// Get returns a member of a mapping.
func (f Field) Get(names ...string) Field {
	for _, name := range names {
		f = Field{reader: f.reader, Path: f.Path + "." + name, value: f.Mapping()[name]}
	}
	return f
}

// IsSet reports whether the field is there.
func (f Field) IsSet() bool { return f.value != nil }

// Fault reports a problem with the field.
func (f Field) Fault(format string, args ...any) { f.reader.report(f.Path, format, args...) }

// typed returns the value, or the zero value of a missing one and of one with another type.
func typed[T any](f Field, name string) (value T) {
	if f.value == nil {
		return value
	}
	value, ok := f.value.(T)
	if !ok {
		f.Fault("must be %s", name)
	}
	return value
}

// Mapping returns a mapping.
func (f Field) Mapping() map[string]any { return typed[map[string]any](f, "a mapping") }

// IsText reports whether the field is a string.
func (f Field) IsText() bool { _, ok := f.value.(string); return ok }

// Text returns a string.
func (f Field) Text() string { return typed[string](f, "a string") }

// IsTrue reports whether the field exists and is true.
func (f Field) IsTrue() bool { return typed[bool](f, "a boolean") }

// IsFalse reports whether the field exists and is false.
func (f Field) IsFalse() bool { return f.IsSet() && !f.IsTrue() }

// Required is text that must not be missing.
func (f Field) Required() string {
	text := f.Text()
	if text == "" && (f.value == nil || f.value == "") {
		f.Fault("is missing")
	}
	return text
}

// Items returns the elements of a list.
func (f Field) Items() []Field {
	list := typed[[]any](f, "a list")
	items := make([]Field, 0, len(list))
	for i, value := range list {
		items = append(items, Field{reader: f.reader, Path: backend.Indexed(f.Path, i), value: value})
	}
	return items
}

// texts returns a mapping of strings.
func (f Field) texts() map[string]string {
	members := f.Mapping()
	all := make(map[string]string, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all[name] = f.Get(name).Text()
	}
	return all
}

// Duration returns a duration that Flux accepts, zero for none.
func (f Field) Duration() time.Duration {
	text := f.Text()
	if text == "" {
		return 0
	}
	value, err := time.ParseDuration(text)
	if err != nil || value < 0 || value%time.Millisecond != 0 {
		f.Fault("%s is no duration such as 10m or 1h30m", excerpt.Quoted(text))
		return 0
	}
	return value
}

// Pick returns a copy of the members of a mapping that are listed. Any other one is a problem.
func (f Field) Pick(names ...string) map[string]any {
	picked := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(f.Mapping())) {
		member := f.Get(name)
		switch {
		case !slices.Contains(names, name):
			member.Fault("is not known here: the backend %s cannot pass it on", f.reader.backend)
		case member.IsSet():
			picked[name] = backend.Clone(member.value)
		}
	}
	return picked
}

// PickTexts is pick of members that are strings.
func (f Field) PickTexts(names ...string) map[string]any {
	for _, name := range names {
		f.Get(name).Text()
	}
	return f.Pick(names...)
}
