// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// Applications is a made-up catalog of definitions of KKP, of about 7 KB each: default values, a logo of 4 KB that cannot be
// compressed, and five versions. The same fields give the same bytes.
type Applications struct {
	Count int
	// Revision of the catalog: in each, one of a hundred applications has another description than in the one before.
	Revision int
}

const (
	// changedShare is the share of the applications that a revision changes: one of so many.
	changedShare = 100
	// logoBytes are 4 KB in base64.
	logoBytes = 3072
	// valueLines and valueWords are those of the default values.
	valueLines, valueWords = 36, 4
)

// Write writes the catalog as the layer of an artifact: a tar.gz.
func (a Applications) Write(to io.Writer) error {
	files := tree.New()
	for i := range a.Count {
		made := application{Rand: rand.New(rand.NewPCG(17, uint64(i))), name: fmt.Sprintf("%s-%05d", words[i%len(words)], i)}
		directory := "applications/" + made.name + "/"
		if err := files.Add(directory+"application.yaml", []byte(made.definition(a.revisionOf(i)))); err != nil {
			return err
		}
		if err := files.Add(directory+"metadata.yaml", []byte(made.metadata())); err != nil {
			return err
		}
	}
	return archive.Write(to, files)
}

// revisionOf returns the last revision that has changed an application.
func (a Applications) revisionOf(i int) int {
	return max(0, a.Revision-(a.Revision-i%changedShare+changedShare)%changedShare)
}

// application makes the files of one.
type application struct {
	*rand.Rand
	name string
}

func (a application) text(n int) string {
	text := make([]string, n)
	for i := range text {
		text[i] = words[a.IntN(len(words))]
	}
	return strings.Join(text, " ")
}

func (a application) definition(revision int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: apps.kubermatic.k8c.io/v1\nkind: ApplicationDefinition\nmetadata:\n  name: %s\nspec:\n", a.name)
	fmt.Fprintf(&b, "  displayName: %s\n  description: %s, revision %d.\n  documentationURL: https://docs.example.com/%s/\n",
		title(a.text(2)), title(a.text(12)), revision, a.name)
	logo := make([]byte, logoBytes)
	for i := range logo {
		logo[i] = byte(a.Uint32())
	}
	fmt.Fprintf(&b, "  logo: %s\n  logoFormat: png\n  method: helm\n", base64.StdEncoding.EncodeToString(logo))
	fmt.Fprintf(&b, "  defaultNamespace:\n    name: %s\n    create: true\n  defaultValuesBlock: |\n", a.name)
	for range valueLines {
		fmt.Fprintf(&b, "    %s%d: %s\n", a.text(1), a.IntN(1000), a.text(valueWords))
	}
	b.WriteString("  versions:\n")
	for i := range 5 {
		fmt.Fprintf(&b, "    - version: 1.%d.%d\n      template:\n        source:\n          helm:\n", i, a.IntN(20))
		fmt.Fprintf(&b, "            url: oci://registry.example.com/charts/%s\n            chartName: %[1]s\n", a.name)
		fmt.Fprintf(&b, "            chartVersion: 2.%d.%d\n", i, a.IntN(20))
	}
	return b.String()
}

func (a application) metadata() string {
	return fmt.Sprintf("tier: %s\nlabels:\n  category: %s\n", []string{"bronze", "silver", "gold"}[a.IntN(3)], a.text(1))
}
