// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"errors"
	"regexp"
	"strings"
)

//go:embed values.yaml
var valuesText string

// values returns the values of the chart: those of values.yaml beside this file, with what config/manager has.
func values(installed []object) (string, error) {
	for _, o := range installed {
		if o.kind != "Deployment" {
			continue
		}
		limits, err := resourcesOf(o)
		limits = regexp.MustCompile(`(?m)^ {8}`).ReplaceAllString(limits, "")
		return strings.Replace(valuesText, "  # of config/manager\n", limits, 1), err
	}
	return "", errors.New("config/default has no Deployment")
}
