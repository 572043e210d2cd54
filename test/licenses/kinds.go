// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"strings"
)

// allowed maps the kinds of licences that may be linked, as SPDX names them, to words that all texts of the kind have.
var allowed = map[string]string{
	"Apache-2.0":   "apache license version 2.0",
	"BSD-2-Clause": "redistribution and use in source and binary forms",
	"CC0-1.0":      "cc0 1.0 universal",
	"ISC":          "permission to use, copy, modify, and/or distribute this software for any purpose",
	"MIT":          "permission is hereby granted, free of charge, to any person obtaining a copy of this software",
	"MPL-2.0":      "mozilla public license version 2.0",
}

// noEndorsement is the clause that BSD-3-Clause has and BSD-2-Clause has not.
const noEndorsement = "to endorse or promote products derived from this software"

// refused are the titles of licences that may not be linked, also beside one that may. Texts that only mention them have a
// comma before the version.
var refused = []string{
	"gnu general public license version", "gnu affero general public license version", "gnu lesser general public license version",
}

// isLicense reports whether a file has the licence of code. LICENSE.docs has that of documentation.
func isLicense(name string) bool {
	name = strings.ToLower(name)
	stem, _, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"license", "licence", "copying"}, strings.SplitN(stem, "-", 2)[0]) &&
		!slices.Contains([]string{".docs", ".go"}, filepath.Ext(name))
}

// kindsOf returns the allowed kinds of licences in a text, sorted: none if it has one that is refused.
func kindsOf(text string) []string {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, phrase := range refused {
		if strings.Contains(words, phrase) {
			return nil
		}
	}
	var kinds []string
	for kind, phrase := range allowed {
		if !strings.Contains(words, phrase) && !strings.Contains(words, strings.Replace(phrase, " version", ", version", 1)) {
			continue
		}
		if kind == "BSD-2-Clause" && strings.Contains(words, noEndorsement) {
			kind = "BSD-3-Clause"
		}
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}
