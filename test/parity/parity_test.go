// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	oldProgram = flag.String("old", "", "the winnow to compare with")
	newProgram = flag.String("new", "", "the winnow that is compared")
)

// What is passed in turns.
var (
	formats = []string{"table", "markdown", "json", "yaml", "table --stat", "markdown --stat", "text", "json --stat"}
	failOn  = strings.Fields("removal version-removal version-change source-change identity major namespace deprecation unmirrored facts safeguards " +
		"held base-approval move risk unknown any held,unknown nothing")
)

// commits is the number of commits of each repository.
const commits = 9

func TestParity(t *testing.T) {
	if *oldProgram == "" || *newProgram == "" {
		t.Skip("skipped: make parity OLD=path/to/winnow runs it")
	}
	for text := range strings.FieldsSeq(cmp.Or(os.Getenv("WINNOW_PARITY_SEEDS"), "1")) {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("WINNOW_PARITY_SEEDS: %v", err)
		}
		t.Run("seed "+text, func(t *testing.T) { compareSeed(t, seed) })
	}
}

func compareSeed(t *testing.T, seed uint64) {
	var mu sync.Mutex
	began, counts := time.Now(), map[string]int{}
	random := func(stream int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(stream))) }
	s := newStore(t, random(0), int(seed)*releases)
	all := edits(s.digests)
	random(0).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	t.Run("inputs", func(t *testing.T) {
		run := func(name string, compare func(p *programs)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := newPrograms(t, s.address)
				p.input = fmt.Sprintf("seed %d, %s", seed, name)
				compare(p)
				mu.Lock()
				defer mu.Unlock()
				for name, n := range p.counts {
					counts[name] += n
				}
			})
		}
		for n, sh := range shapes {
			r := random(n + 1)
			repository := history(r, sh.repository(r, s.digests), commits, n*len(all)/len(shapes), all, frequentEdits)
			run(sh.name, func(p *programs) { compareRepository(p, r, sh, repository) })
		}
		run("catalogs", func(p *programs) { compareCatalogs(p, random(-1), s.dir) })
		run("charts", func(p *programs) { compareCharts(p, random(-2)) })
	})
	t.Logf("%d commands compared in %s: %v", counts["exit code 0"]+counts["exit code 1"]+counts["exit code 2"], time.Since(began).Round(time.Second), counts)
}

func compareRepository(p *programs, r *rand.Rand, sh shape, repository []commit) {
	p.git("", "init", "-q", "-b", "main")
	p.git("", "remote", "add", "origin", "https://git.example.com/org/fleet.git")
	p.git(stream(repository), "fast-import", "--quiet")
	input, first := p.input, repository[0].files
	for n, c := range repository {
		p.git("", "checkout", "-q", "-f", fmt.Sprintf("main~%d", len(repository)-1-n))
		p.input = fmt.Sprintf("%s, commit %d: %s", input, n, c.subject)
		switch n {
		case 0:
			compareSelections(p, first)
			continue
		case len(repository) - 1:
			maps.DeleteFunc(c.files, func(name, text string) bool { return first[name] == text })
			compareSelections(p, c.files)
		}
		base := fmt.Sprintf("HEAD~%d", n-c.edited)
		report := p.compare("diff --git %s..HEAD --plain-http -o json --fail-on any", base)["/stdout"]
		for _, effect := range regexp.MustCompile(`"effect": "\w+"`).FindAllString(report, -1) {
			p.counts[effect]++
		}
		p.compare("diff --git HEAD~%d..HEAD --plain-http -o %s --fail-on %s", 1+r.IntN(n), formats[r.IntN(len(formats))], failOn[r.IntN(len(failOn))])
		if strings.Contains(report, `"approve":`) {
			p.compare("diff --git %s..HEAD --plain-http -o %s", base, formats[n%2])
			p.compare("approve --git %s..HEAD --plain-http --write", base)
		}
		p.compare("%s", []string{
			"approve --git " + base + "..HEAD --plain-http", "diff --git HEAD..HEAD~1 --plain-http", "site --git . --plain-http -o site" + []string{"", " --base " + base}[n%2],
			"diff --git " + base + "..HEAD --plain-http " + sh.clusters, "diff --git HEAD~1...HEAD --plain-http=" + host + " --repository flux-system=. -q",
		}[n%5])
		if sh.name == "stages" {
			from := []string{"spokes/staging", "spokes/edge", "oci://" + host + "/rendered/hub:" + tagOf(n%releases), "spokes"}[n%4]
			p.compare("promote --git %s spokes/production --plain-http -o %s %s", from, formats[n%3],
				[]string{"--approve", "--fail-on held,unknown", "--min-age 24h", "--approve --fail-on any --name applications", "spokes/edge"}[n%5])
		}
	}
}

// compareSelections reads each file with a selection, over a release and over the source beside it.
func compareSelections(p *programs, files map[string]string) {
	for n, file := range slices.Sorted(maps.Keys(files)) {
		_, name, _ := strings.Cut(files[file], "kind: CatalogSelection\nmetadata:\n  name: ")
		if name == "" || !strings.Contains(files[file], "sources:\n") {
			continue
		}
		name, _, _ = strings.Cut(name, "\n")
		flags := "--name " + name + " -f " + file + " --plain-http --source " + addressOf(n%releases)
		p.compare("render %s %s", flags, []string{"", "-o out", "--archive out.tar.gz", "-n flux-system"}[n%4])
		p.compare("render --name %s -f %s --plain-http", name, filepath.Dir(file))
		p.compare("list %s %s", flags, []string{"-o table", "-o wide", "-o json", "-o name", "-o yaml", "--images"}[n%6])
		p.compare("lint %s %s", flags, []string{"-o table", "-o json", "-o markdown", "-o github --fail-on warning", "-o yaml --strict"}[n%5])
	}
}

func compareCatalogs(p *programs, r *rand.Rand, dir string) {
	write(p.t, p.dir, map[string]string{"one.yaml": chosen(r, "one"), "two.yaml": chosen(r, "two"), "all.yaml": selection("all", "")})
	for n := range releases + 1 {
		from, beside := addressOf(r.IntN(releases)), filepath.Join(dir, tagOf(r.IntN(releases)))
		for i := range 2 {
			p.compare("diff --plain-http --from %s --to %s -o %s --fail-on %s", from, addressOf(n), formats[(n+3*i)%len(formats)], failOn[(3*n+i)%len(failOn)])
			p.compare("diff --plain-http --from %s --to %s -o %s -f %s", beside, addressOf(n), formats[(n+i)%len(formats)], []string{"one.yaml", "two.yaml", "all.yaml"}[(n+i)%3])
		}
		p.compare("diff --plain-http --from-selection one.yaml -f two.yaml --name two --to %s -o %s", addressOf(n), formats[n%len(formats)])
		p.compare("lint --plain-http %s -o %s --fail-on warning", addressOf(n), []string{"table", "json", "yaml", "markdown", "github"}[n%5])
		p.compare("list --plain-http %s -o %s", addressOf(n), []string{"table", "wide", "name", "json", "yaml"}[n%5])
		p.compare("site --plain-http %s second=%s -o site --title Catalogs", addressOf(n), beside)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, catalog := range []string{"plain-flux/catalog", "operators/next", "cozystack/packages --include */cozyrds/*.yaml"} {
		for _, verb := range []string{"lint", "list -o json", "site -o site"} {
			p.compare("%s %s/%s", verb, examples, catalog)
		}
	}
	p.compare("diff --from %s/operators/catalog --to %[1]s/operators/next -o %s", examples, formats[r.IntN(len(formats))])
	for _, verb := range strings.Fields("diff promote approve site render list lint") {
		for _, args := range []string{"--help", "", "--nothing", "-o nothing --git nowhere..HEAD x y", "-f nowhere.yaml --to nowhere --source nowhere"} {
			p.compare("%s %s", verb, args)
		}
	}
}

// compareCharts compares neighbours among the archives of real charts, where there are some.
func compareCharts(p *programs, r *rand.Rand) {
	data, err := filepath.Abs(cmp.Or(os.Getenv("WINNOW_TEST_DATA"), "../../../shared/data"))
	if err != nil {
		p.t.Fatal(err)
	}
	archives, err := filepath.Glob(filepath.Join(data, "charts/*/*.tgz"))
	if err != nil || len(archives) == 0 {
		p.t.Skip("skipped: there are no real charts")
	}
	write(p.t, p.dir, map[string]string{"all.yaml": selection("all", "  instances:\n    real: {}\n")})
	for n := range 3 {
		at := r.IntN(len(archives) - 1)
		catalog := "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: real\nspec:\n  method: helm\n  description: A chart.\n  versions:\n"
		for i, side := range []string{"from", "to"} {
			archive := strings.TrimSuffix(filepath.Base(archives[at+i]), ".tgz")
			cut := strings.LastIndexByte(archive[:strings.IndexByte(archive, '.')], '-')
			catalog += fmt.Sprintf("  - version: %q\n    template: {source: {helm: {url: \"https://charts.example.com\", chartName: %s, chartVersion: %[1]q}}}\n", archive[cut+1:], archive[:cut])
			write(p.t, p.dir, map[string]string{side + "/applications/real/application.yaml": catalog})
		}
		charts := "--charts=" + filepath.Dir(archives[at])
		p.compare("diff --from from --to to -f all.yaml %s -o %s --fail-on risk", charts, formats[n])
		p.compare("list to --images %s -o json", charts)
		p.compare("lint to %s", charts)
	}
}
