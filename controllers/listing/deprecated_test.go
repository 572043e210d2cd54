// SPDX-License-Identifier: Apache-2.0

package listing

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/catalog/metadata"
	"github.com/winnow-dev/winnow/render/selection"
)

// deprecating returns the decision on a selected application. The versions are words such as 1.0.0=message; "-"
// before one means that it does not stay.
func deprecating(name, message, versions string) selection.Decision {
	d := selection.Decision{Selected: true, Rule: selection.RuleSelected, Application: &catalog.Application{
		Name: name, Metadata: metadata.Metadata{Deprecated: message},
	}}
	for word := range strings.FieldsSeq(versions) {
		version, message, _ := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		d.Application.Versions = append(d.Application.Versions, version)
		d.Application.Metadata.Versions = append(d.Application.Metadata.Versions, metadata.Version{Name: version, Deprecated: message})
		if !strings.HasPrefix(word, "-") {
			d.Versions = append(d.Versions, version)
		}
	}
	slices.SortFunc(d.Application.Metadata.Versions, func(a, b metadata.Version) int { return strings.Compare(a.Name, b.Name) })
	return d
}

func TestWhatIsDeprecatedIsListed(t *testing.T) {
	refused := deprecating("refused", "old", "1.0.0=older")
	refused.Selected = false
	got := listDeprecated(selection.Result{Decisions: []selection.Decision{
		deprecating("a", "use b", "3.0.0 2.0.0=use_b 1.0.0=old 0.9.0=old -0.8.0=gone"),
		deprecating("b", "", "1.0.0"), refused, deprecating("c", "", "1.0.0=use_b"), deprecating("d", "x", "1.0.0=x"),
	}})
	want := []v1alpha1.DeprecatedStatus{
		{Application: "a", Message: "use b"},
		{Application: "a", Versions: []string{"2.0.0"}, Message: "use_b"},
		{Application: "a", Versions: []string{"1.0.0", "0.9.0"}, Message: "old"},
		{Application: "c", Versions: []string{"1.0.0"}, Message: "use_b"},
		{Application: "d", Message: "x"},
		{Application: "d", Versions: []string{"1.0.0"}, Message: "x"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("listed are\n%v\nwant\n%v", got, want)
	}
}

// channels is the content of a package of operators with these channels, each name=message.
type channels struct {
	catalog.Content
	words string
}

func (c channels) Channels() []catalog.Channel {
	var all []catalog.Channel
	for word := range strings.FieldsSeq(c.words) {
		name, message, _ := strings.Cut(word, "=")
		all = append(all, catalog.Channel{Name: name, Deprecated: message})
	}
	return all
}

func TestDeprecatedChannelsAreListed(t *testing.T) {
	operator := deprecating("operator", "", "operator.v2=use_v3 operator.v1")
	operator.Application.Content = channels{words: "gone=gone alpha=use_stable beta=use_stable stable"}
	operator.Kept = channels{words: "alpha=use_stable beta=use_stable stable"}
	got := listDeprecated(selection.Result{Decisions: []selection.Decision{operator}})
	want := []v1alpha1.DeprecatedStatus{
		{Application: "operator", Channels: []string{"alpha", "beta"}, Message: "use_stable"},
		{Application: "operator", Versions: []string{"operator.v2"}, Message: "use_v3"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("listed are\n%+v\nwant\n%+v", got, want)
	}
}

func TestTheListOfWhatIsDeprecatedIsBounded(t *testing.T) {
	var versions string
	for i := range 1000 {
		versions += fmt.Sprintf("1.0.%d%s=%d%s ", i, strings.Repeat("0", 200), i%2, strings.Repeat("m", 1000))
	}
	decisions := []selection.Decision{deprecating("a", strings.Repeat("m", 10_000), versions)}
	for i := range 1000 {
		decisions = append(decisions, deprecating(fmt.Sprint("b", i), "m", ""))
	}
	got := listDeprecated(selection.Result{Decisions: decisions})
	size := 0
	for _, entry := range got {
		size += len(entry.Message) + len(entry.Application)
		for _, version := range entry.Versions {
			size += len(version)
		}
	}
	if len(got) < 4 || len(got) > maxDeprecatedLines || size > 80*maxDeprecatedLines {
		t.Errorf("%d entries with %d bytes are listed", len(got), size)
	}
}
