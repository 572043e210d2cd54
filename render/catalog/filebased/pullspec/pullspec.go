// SPDX-License-Identifier: Apache-2.0

// Package pullspec checks the addresses of images as OLM's tools do. It must not know where they stand.
package pullspec

import (
	_ "crypto/sha256" // for the digests that digest.Parse knows
	_ "crypto/sha512"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/opencontainers/go-digest"
)

// The grammar of github.com/distribution/reference, by which OLM's tools check pull specs.
// go-containerregistry's grammar refuses names that these accept.
var (
	imageReference  = regexp.MustCompile(`^(` + imageName + `)(?::([\w][\w.-]{0,127}))?(?:@(` + imageDigest + `))?$`)
	imageIdentifier = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

const (
	imageComponent = `[a-z0-9]+(?:(?:[._]|__|[-]*)[a-z0-9]+)*`
	imageHostPart  = `(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
	imageHost      = imageHostPart + `(?:\.` + imageHostPart + `)*(?::[0-9]+)?`
	imageName      = `(?:` + imageHost + `/)?` + imageComponent + `(?:/` + imageComponent + `)*`
	imageDigest    = `[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[[:xdigit:]]{32,}`

	maxImageName = 255
)

// Check checks the address of an image. None is correct: where one is needed, others check that.
func Check(text string) error {
	if text == "" {
		return nil
	}
	if imageIdentifier.MatchString(text) {
		return errors.New("64 hexadecimal characters are an identifier, not a name")
	}
	host, rest := splitHost(text)
	name, _, _ := strings.Cut(rest, ":")
	if strings.ToLower(name) != name {
		return errors.New("the repository must be in lower case")
	}
	match := imageReference.FindStringSubmatch(host + "/" + rest)
	switch {
	case match == nil:
		return errors.New("expected host/repository:tag or host/repository@algorithm:digest")
	case len(match[1]) > maxImageName:
		return fmt.Errorf("the name has more than %d characters", maxImageName)
	case match[3] != "":
		_, err := digest.Parse(match[3])
		return err
	}
	return nil
}

// splitHost adds the host, and the first part of the repository, that a short name leaves out.
func splitHost(text string) (host, rest string) {
	const short = "docker.io"
	host, rest, found := strings.Cut(text, "/")
	if !found || !strings.ContainsAny(host, ".:") && host != "localhost" {
		host, rest = short, text
	}
	if host == "index.docker.io" {
		host = short
	}
	if host == short && !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	return host, rest
}
