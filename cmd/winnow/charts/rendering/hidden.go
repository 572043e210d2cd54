// SPDX-License-Identifier: Apache-2.0

package rendering

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/winnow-dev/winnow/registry/redact"
)

// withoutValues removes the values that a chart was rendered with from an error of Helm: errors of fail, functions and schemas may
// quote any. A value that a file of the chart has as well stays.
func withoutValues(err error, files []*archive.BufferedFile, given []byte) error {
	values, invalid := loader.LoadValues(bytes.NewReader(given))
	if invalid != nil {
		return errors.New("its values are no YAML") // the error quotes them
	}
	var secrets redact.Secrets
	for _, word := range words(values) {
		if !slices.ContainsFunc(files, func(f *archive.BufferedFile) bool { return bytes.Contains(f.Data, []byte(word)) }) {
			secrets.Add(word)
		}
	}
	return secrets.Error(err, nil)
}

// words returns the keys and scalars of values, with their lines and with the parts of addresses: a message may quote a part.
func words(value any) (all []string) {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			all = append(append(all, key), words(member)...)
		}
	case []any:
		for _, element := range value {
			all = append(all, words(element)...)
		}
	case string:
		all = append(all, value, strings.TrimSpace(value))
		if decoded, err := base64.StdEncoding.DecodeString(value); err == nil {
			all = append(all, strings.TrimSpace(string(decoded)))
		}
		all = append(all, strings.FieldsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`/:@?&=,;'"\<>|.`, r) })...)
	case float64: // as text/template writes it, and as fmt does
		all = append(all, fmt.Sprint(value), strconv.FormatFloat(value, 'f', -1, 64))
	case int64:
		all = append(all, strconv.FormatInt(value, 10))
	}
	return all
}
