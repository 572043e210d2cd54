// SPDX-License-Identifier: Apache-2.0

// Package spdx writes what Go programs are made of as an SPDX document, by what the linker recorded in them. It must
// not know how they are packed or published.
package spdx

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

const unknown = "NOASSERTION"

// Subject is what a document describes: an image, or an archive, and the programs in it.
type Subject struct {
	Name, Version string
	SHA256        string // hexadecimal
	Purpose       string // CONTAINER or FILE
	Programs      []Program
}

// Program is a binary.
type Program struct {
	Name, Platform string
	SHA256         string // hexadecimal
	Build          *buildinfo.BuildInfo
}

// The JSON of https://spdx.github.io/spdx-spec/v2.3.
type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []pack         `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pack struct {
	ID            string      `json:"SPDXID"`
	Name          string      `json:"name"`
	Version       string      `json:"versionInfo,omitempty"`
	Location      string      `json:"downloadLocation"`
	FilesAnalyzed bool        `json:"filesAnalyzed"`
	Concluded     string      `json:"licenseConcluded"`
	Declared      string      `json:"licenseDeclared"`
	Copyright     string      `json:"copyrightText"`
	Purpose       string      `json:"primaryPackagePurpose,omitempty"`
	Checksums     []checksum  `json:"checksums,omitempty"`
	References    []reference `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

// Document returns the document of a subject. The same subject and time give the same bytes.
func Document(subject Subject, created time.Time) ([]byte, error) {
	d := &document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: subject.Name,
		Namespace: "https://github.com/winnow-dev/winnow/spdx/" + identifier(subject.Name) + "/" + subject.SHA256,
		Creation:  creation{created.UTC().Format(time.RFC3339), []string{"Organization: Winnow"}},
	}
	main := newPack("subject", subject.Name, subject.Version)
	main.Purpose, main.Checksums = subject.Purpose, []checksum{{"SHA256", subject.SHA256}}
	d.add(d.ID, "DESCRIBES", main)
	for _, program := range subject.Programs {
		d.addProgram(main.ID, subject.Version, program)
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

func (d *document) addProgram(subject, version string, program Program) {
	p := newPack(program.Name+"-"+program.Platform, program.Name+" "+program.Platform, version)
	p.Purpose, p.Checksums = "APPLICATION", []checksum{{"SHA256", program.SHA256}}
	p.Declared = "Apache-2.0"
	d.add(subject, "CONTAINS", p)
	stdlib := newPack("stdlib-"+program.Build.GoVersion, "stdlib", strings.TrimPrefix(program.Build.GoVersion, "go"))
	stdlib.References = purl("stdlib", stdlib.Version)
	d.add(p.ID, "DEPENDS_ON", stdlib)
	for _, module := range program.Build.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		dependency := newPack(module.Path+"-"+module.Version, module.Path, module.Version)
		dependency.Location = "https://proxy.golang.org/" + module.Path + "/@v/" + module.Version + ".zip"
		dependency.References = purl(module.Path, module.Version)
		d.add(p.ID, "DEPENDS_ON", dependency)
	}
}

// add adds a package, unless another program has it already, and how it relates to an element.
func (d *document) add(element, relation string, p pack) {
	d.Relationships = append(d.Relationships, relationship{element, relation, p.ID})
	for _, present := range d.Packages {
		if present.ID == p.ID {
			return
		}
	}
	d.Packages = append(d.Packages, p)
}

func newPack(id, name, version string) pack {
	return pack{
		ID: "SPDXRef-" + identifier(id), Name: name, Version: version,
		Location: unknown, Concluded: unknown, Declared: unknown, Copyright: unknown,
	}
}

func purl(module, version string) []reference {
	return []reference{{"PACKAGE-MANAGER", "purl", fmt.Sprintf("pkg:golang/%s@%s", module, strings.ReplaceAll(version, "+", "%2B"))}}
}

var outside = regexp.MustCompile(`[^A-Za-z0-9.-]`)

// identifier returns a text that SPDX takes as a part of an identifier. Texts that differ stay apart.
func identifier(text string) string {
	return outside.ReplaceAllStringFunc(text, func(character string) string {
		if character == "/" {
			return "-"
		}
		return fmt.Sprintf("-%x-", character)
	})
}
