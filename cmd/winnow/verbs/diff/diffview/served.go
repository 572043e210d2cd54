package diffview

import (
	"fmt"
	"strings"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/diff"
)

// servedCounts returns the numbers of catalogs that serve the packages, by their changes.
func servedCounts(all []diff.ServedCatalog) []string {
	n := map[diff.Change]int{}
	for _, c := range all {
		n[c.Change]++
	}
	return counts([]counted{{n[diff.Removed], "removed"}, {n[diff.Updated], "updated"}, {n[diff.Added], "added"}}, "catalog of OLM")
}

func servedTitle(c diff.ServedCatalog) string {
	title := fmt.Sprintf("%s %s: %s", sign(c.Change), c.Object, c.Change)
	switch {
	case c.Deleted == nil:
	case *c.Deleted:
		title += "; Flux deletes it"
	default:
		title += "; Flux keeps it"
	}
	return title
}

func (w selectionText) served(all []diff.ServedCatalog) {
	for _, c := range all {
		fmt.Fprintln(w, "\n"+plaintext.Wrap(servedTitle(c), ""))
		if !w.stat {
			w.fields(c.Fields, c.FieldsOmitted, "    ")
		}
	}
}

func servedMarkdown(w *strings.Builder, all []diff.ServedCatalog) {
	for i, c := range all {
		if i == 0 {
			fmt.Fprint(w, "\nCatalogs of OLM:\n\n")
		}
		fmt.Fprintf(w, "- %s\n", code(servedTitle(c)))
		fieldsMarkdown(w, "  ", c.Fields, c.FieldsOmitted)
	}
}
