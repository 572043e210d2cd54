// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// SourceDateEpoch is the environment variable of reproducible builds for the time of creation, in
// seconds since 1970. See https://reproducible-builds.org/specs/source-date-epoch.
const SourceDateEpoch = "SOURCE_DATE_EPOCH"

// lastSecond of the year 9999 is the last time that RFC 3339 can represent.
const lastSecond = 253402300799

// secretPattern finds URLs with a password, or with a user that may be a token; the user of ssh:// is none.
var secretPattern = regexp.MustCompile(`(?i)https?://[^\s/]*@|://[^\s/@]*:[^\s/]*@`)

// Annotations parses the annotations of a manifest, each KEY=VALUE. If the time of creation is missing, it adds epoch, the
// value of SOURCE_DATE_EPOCH, unless epoch is empty. It never uses the clock, which would give each push
// another digest. It refuses secrets in URLs: a CI system may have the URL of the sources with the token of the job.
func Annotations(given []string, epoch string) (map[string]string, error) {
	all := map[string]string{}
	for _, arg := range given {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--annotation %s: want KEY=VALUE", arg)
		}
		if secretPattern.MatchString(key) {
			return nil, errors.New("the key of an annotation has a URL with a user or a password: want KEY=VALUE")
		}
		if secretPattern.MatchString(value) {
			return nil, fmt.Errorf("the annotation %s has a URL with a user or a password, which all who may pull would see: leave them out", key)
		}
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("the annotation %s is given twice", key)
		}
		all[key] = value
	}
	created, ok := all[v1.AnnotationCreated]
	if !ok {
		return all, addCreated(all, epoch)
	}
	if _, err := time.Parse(time.RFC3339, created); err != nil {
		return nil, fmt.Errorf("the annotation %s is %q: want a time such as 2006-01-02T15:04:05Z", v1.AnnotationCreated, created)
	}
	return all, nil
}

func addCreated(annotations map[string]string, epoch string) error {
	if epoch == "" {
		return nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 || seconds > lastSecond {
		return fmt.Errorf("%s is %q: want seconds since 1970", SourceDateEpoch, epoch)
	}
	annotations[v1.AnnotationCreated] = time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	return nil
}
