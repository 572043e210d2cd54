// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// Schemes that a mirror may have.
const (
	schemeOCI   = "oci"
	schemeHTTPS = "https"
)

// mirror is a compiled Mirror.
type mirror struct {
	// field of the CatalogSelection.
	field string
	from  string
	// target is where the prefix leads to, without the scheme, which is empty where the address keeps its own.
	target, scheme string
	// server has the members of a Helm source that belong to the server; nil: as the document says.
	server *yaml.Node
}

var (
	// ociPath is what follows the host of a repository in a registry. KKP appends the name of the chart.
	ociPath = regexp.MustCompile(`^(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)*$`)
	// webPath is what follows the host of a mirror with https://.
	webPath = regexp.MustCompile(`^(/[^/@?#\s]+)*$`)
)

var (
	errScheme = errors.New("must be [oci://|https://]host[:port][/path], without other schemes, outer slashes and spaces")
	errOCI    = errors.New("must be oci://host[:port][/path] with a path of lower case letters, digits, and . _ - between them")
)

// newMirror compiles a mirror. The error is an *Error, or several joined.
func newMirror(field string, configured v1alpha1.Mirror) (mirror, error) {
	m := mirror{field: field + ".to", from: configured.From}
	var errs []error
	var err error
	if m.scheme, m.target, err = parseTarget(configured.To); err != nil {
		errs = append(errs, &Error{Field: m.field, Err: err})
	}
	if configured.Helm == nil {
		return m, errors.Join(errs...)
	}
	if err := checkCredentials(configured.Helm.Credentials); err != nil {
		errs = append(errs, &Error{Field: field + ".helm.credentials", Err: err})
	}
	if m.server, err = newServer(m.scheme, configured.Helm); err != nil {
		errs = append(errs, &Error{Field: field + ".helm", Err: err})
	}
	return m, errors.Join(errs...)
}

// parseTarget splits the To of a mirror.
func parseTarget(to string) (scheme, target string, err error) {
	scheme, target, ok := strings.Cut(to, "://")
	if !ok || scheme != schemeOCI && scheme != schemeHTTPS {
		if !isPrefix(to) || stays(to) != nil {
			err = errScheme
		}
		return "", to, err
	}
	host, _, _ := strings.Cut(target, "/")
	switch path := target[len(host):]; {
	case scheme == schemeOCI && (!isHost(host) || !ociPath.MatchString(path)):
		err = errOCI
	case scheme == schemeHTTPS && (!isHost(host) || !webPath.MatchString(path) || stays(path) != nil):
		err = errScheme
	}
	return scheme, target, err
}

// widens reports whether what follows the prefix would become part of the mirror's host, as a user before
// another host, or as a port.
func (m mirror) widens(rest string) bool {
	return rest != "" && rest[0] != '/' && !strings.Contains(m.target, "/")
}

// dots is an element of a path that leads elsewhere, as written or encoded.
var dots = regexp.MustCompile(`(?i)/(\.|%2e){1,2}([/?#]|$)`)

// stays returns an error for a location that may lead out of the path of its mirror.
func stays(location string) error {
	if dots.MatchString(location) {
		return errors.New("an element . or .. of a path may lead out of the mirror: leave it out of the catalog")
	}
	return nil
}

// serves reports whether the mirror has what has a scheme.
func (m mirror) serves(scheme string) bool {
	return m.scheme == "" || scheme == "" || m.scheme == scheme
}

// address returns the address of what moves to a location of the mirror. The source is where a version
// comes from.
func (m mirror) address(a address, location string, kind Kind, source *yaml.Node) (string, error) {
	result, scheme := a.with(location), a.scheme
	if m.scheme != "" {
		scheme = m.scheme
		var err error
		if result, err = m.moved(a, location, kind, source); err != nil {
			return "", err
		}
	}
	if kind != KindChart || m.scheme == "" && m.server == nil {
		return result, nil
	}
	return result, refused(scheme, cmp.Or(m.server, source))
}

// moved returns the address with the scheme of the mirror. Errors do not quote the address, which may
// contain a password.
func (m mirror) moved(a address, location string, kind Kind, source *yaml.Node) (string, error) {
	user := strings.TrimPrefix(a.before, a.scheme+"://")
	if m.scheme == schemeHTTPS {
		if a.scheme != "https" && a.scheme != "http" {
			user = "" // the web server does not know the user of SSH
		}
		return m.scheme + "://" + user + location, nil
	}
	const instead = "give it an entry of its own, with a longer from and with a to"
	switch {
	case kind == KindGit:
		return "", errors.New("a registry has no Git repositories: " + instead + " that begins with https:// or has no scheme")
	case user != "":
		return "", errors.New("an oci:// address has no user: leave it out of the catalog and name a Secret in helm.credentials, or " + instead + " without a scheme")
	case strings.ContainsAny(location, "?#"):
		return "", errors.New("an oci:// address has no query and no fragment: " + instead + " without a scheme")
	}
	location = strings.TrimRight(location, "/")
	host, _, _ := strings.Cut(location, "/")
	chart := printed(yamledit.Lookup(source, "chartName"))
	if repository := location[len(host):] + "/" + chart; !ociPath.MatchString(repository) {
		return "", fmt.Errorf("KKP would not find the chart, because %.200q is not the name of a repository in a registry, "+
			"which has lower case letters, digits, and . _ - between them: "+instead+" without a scheme", repository[1:])
	}
	return m.scheme + "://" + location, nil
}

func isPrefix(prefix string) bool {
	host, _, _ := strings.Cut(prefix, "/")
	return isHost(host) && !strings.Contains(prefix, "://") &&
		!strings.HasSuffix(prefix, "/") && !strings.ContainsAny(prefix, " \t\r\n\v\f")
}
