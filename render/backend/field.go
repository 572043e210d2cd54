package backend

import (
	"maps"
	"slices"
	"time"
)

// field is a part of a definition, with its path. A missing one has the value nil. What has the wrong type
// is a problem of the draft.
type field struct {
	draft *draft
	path  string
	value any
}

// get returns a member of a mapping.
func (f field) get(names ...string) field {
	for _, name := range names {
		f = field{draft: f.draft, path: f.path + "." + name, value: f.mapping()[name]}
	}
	return f
}

func (f field) isSet() bool { return f.value != nil }

func (f field) fault(format string, args ...any) { f.draft.fault(f.path, format, args...) }

// typed returns the value, or the zero value of a missing one and of one with another type.
func typed[T any](f field, name string) (value T) {
	if f.value == nil {
		return value
	}
	value, ok := f.value.(T)
	if !ok {
		f.fault("must be %s", name)
	}
	return value
}

func (f field) mapping() map[string]any { return typed[map[string]any](f, "a mapping") }

func (f field) text() string { return typed[string](f, "a string") }

func (f field) isTrue() bool { return typed[bool](f, "a boolean") }

// isFalse reports whether the field is there, and false.
func (f field) isFalse() bool { return f.isSet() && !f.isTrue() }

// required is text that must not be missing.
func (f field) required() string {
	text := f.text()
	if text == "" && (f.value == nil || f.value == "") {
		f.fault("is missing")
	}
	return text
}

func (f field) items() []field {
	list := typed[[]any](f, "a list")
	items := make([]field, 0, len(list))
	for i, value := range list {
		items = append(items, field{draft: f.draft, path: indexed(f.path, i), value: value})
	}
	return items
}

// texts returns a mapping of strings.
func (f field) texts() map[string]string {
	members := f.mapping()
	all := make(map[string]string, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all[name] = f.get(name).text()
	}
	return all
}

// duration returns a duration that Flux accepts, zero for none.
func (f field) duration() time.Duration {
	text := f.text()
	if text == "" {
		return 0
	}
	value, err := time.ParseDuration(text)
	if err != nil || value < 0 || value%time.Millisecond != 0 {
		f.fault("%s is no duration such as 10m or 1h30m", quote(text))
		return 0
	}
	return value
}

// pick returns a copy of the members of a mapping that are listed. Any other one is a problem.
func (f field) pick(names ...string) map[string]any {
	picked := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(f.mapping())) {
		member := f.get(name)
		switch {
		case !slices.Contains(names, name):
			member.fault("is not known here: the backend %s cannot pass it on", f.draft.backend)
		case member.isSet():
			picked[name] = clone(member.value)
		}
	}
	return picked
}

// pickTexts is pick of members that are strings.
func (f field) pickTexts(names ...string) map[string]any {
	for _, name := range names {
		f.get(name).text()
	}
	return f.pick(names...)
}
