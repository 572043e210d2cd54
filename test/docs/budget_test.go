// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "lower the budgets of pages that became shorter, and the number of phrases")

const (
	budgetFile = "budget.txt"
	// mostInACell is the number of words of a cell that is still read.
	mostInACell = 40
)

// budget is what a page may have: words, and whether it still has longer cells.
type budget struct {
	words     int
	longCells bool
}

// A page that grows needs a shorter text, or a decision: a higher number in the file.
func TestEachPageIsWithinItsBudget(t *testing.T) {
	budgets := readBudgets(t)
	for _, file := range files(t, ".md") {
		page := name(t, file)
		if !isBudgeted(page) {
			continue
		}
		text := read(t, file)
		words, long := len(strings.Fields(text)), longCells(text)
		allowed, known := budgets[page]
		switch {
		case !known && *update:
			budgets[page] = budget{roundUp(words), len(long) > 0}
		case !known:
			t.Errorf("%s has no budget in %s: go test ./test/docs -update adds it", page, budgetFile)
		case words > allowed.words:
			t.Errorf("%s has %d words, more than %d", page, words, allowed.words)
		case len(long) > 0 && !allowed.longCells:
			t.Errorf("%s has cells of more than %d words: %q", page, mostInACell, long)
		case *update:
			budgets[page] = budget{min(allowed.words, roundUp(words)), len(long) > 0}
		}
	}
	for page := range budgets {
		if _, err := os.Stat(root + "/" + page); err != nil && !*update {
			t.Errorf("%s has a budget for %s: %v", budgetFile, page, err)
		} else if err != nil {
			delete(budgets, page)
		}
	}
	if len(budgets) < 50 {
		t.Errorf("%s has only %d pages", budgetFile, len(budgets))
	}
	if *update {
		writeBudgets(t, budgets)
	}
}

// isBudgeted reports whether a page is written here: others are generated, or texts of other projects.
func isBudgeted(page string) bool {
	for _, other := range []string{"docs/reference/winnow", "test/bench/RESULTS.md", "THIRD_PARTY.md", "CODE_OF_CONDUCT.md"} {
		if strings.HasPrefix(page, other) {
			return false
		}
	}
	return !strings.Contains(page, "/testdata/")
}

func roundUp(words int) int { return (words + 99) / 100 * 100 }

// longCells returns the beginnings of cells of tables that are too long.
func longCells(text string) (found []string) {
	for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for cell := range strings.SplitSeq(strings.Trim(line, "| \n"), " | ") {
			if words := strings.Fields(cell); len(words) > mostInACell {
				found = append(found, strings.Join(words[:5], " "))
			}
		}
	}
	return found
}

func TestLongCellsAreFound(t *testing.T) {
	long := strings.Repeat("word ", mostInACell+1)
	for text, want := range map[string]int{
		"| a | " + long + "|\n":                    1,
		"| a | " + long[5:] + "|\n":                0,
		long + "\n":                                0,
		"```\n| " + long + "|\n```\n| a | b |\n":   0,
		"| " + long + "| b |\n| c | " + long + "|": 2,
	} {
		if got := len(longCells(text)); got != want {
			t.Errorf("got %d, want %d of %.60q", got, want, text)
		}
	}
}

func readBudgets(t *testing.T) map[string]budget {
	t.Helper()
	budgets := map[string]budget{}
	for line := range strings.Lines(read(t, budgetFile)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		words, err := strconv.Atoi(fields[0])
		if err != nil || len(fields) < 2 || len(fields) > 3 || len(fields) == 3 && fields[2] != "long-cells" {
			t.Fatalf("%s: invalid line %q", budgetFile, line)
		}
		budgets[fields[1]] = budget{words, len(fields) == 3}
	}
	return budgets
}

func writeBudgets(t *testing.T, budgets map[string]budget) {
	t.Helper()
	var text strings.Builder
	text.WriteString("# The most words of each page, as wc -w counts them: go test ./test/docs -update lowers them.\n")
	text.WriteString("# long-cells: the page still has cells of more than 40 words.\n")
	for _, page := range slices.Sorted(maps.Keys(budgets)) {
		fmt.Fprintf(&text, "%d %s", budgets[page].words, page)
		if budgets[page].longCells {
			text.WriteString(" long-cells")
		}
		text.WriteString("\n")
	}
	if err := os.WriteFile(budgetFile, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
