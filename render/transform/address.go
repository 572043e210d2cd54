// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"regexp"
	"strings"
)

// address is a URL or the short form that scp and git know.
type address struct {
	// scheme without "://"; ssh for the short form.
	scheme string
	// before is the scheme with "://" and the user.
	before string
	// host as written, with its port.
	host string
	// location is host and path in the form that mirrors are written in, without the port
	// when it is the scheme's default.
	location string
	scp      bool
}

// defaultPorts of the schemes that are rewritten.
var defaultPorts = map[string]string{"oci": ":443", "https": ":443", "http": ":80", "ssh": ":22", "git": ":9418"}

// parseURL is not ok for what is not a URL of a known scheme with a host.
func parseURL(value string) (address, bool) {
	scheme, rest, ok := strings.Cut(value, "://")
	port, known := defaultPorts[scheme]
	if !ok || !known || strings.ContainsAny(template.ReplaceAllString(value, ""), " \t\r\n") {
		return address{}, false
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], rest[end:]
	at := strings.LastIndexByte(authority, '@') + 1
	host := authority[at:]
	if !isHost(host) {
		return address{}, false
	}
	return address{
		scheme:   scheme,
		before:   scheme + "://" + authority[:at],
		host:     host,
		location: strings.TrimSuffix(host, port) + path,
	}, true
}

// scp is user@host:path, where nothing that looks like a path is before the colon.
var scp = regexp.MustCompile(`^([A-Za-z0-9._~-]+@)?([A-Za-z0-9.-]+):([^/\s][^\s]*)$`)

func parseSCP(value string) (address, bool) {
	parts := scp.FindStringSubmatch(value)
	if parts == nil {
		return address{}, false
	}
	return address{scheme: "ssh", before: parts[1], host: parts[2], location: parts[2] + "/" + parts[3], scp: true}, true
}

// with returns the address with another location. The short form has no place for a port.
func (a address) with(location string) string {
	if !a.scp {
		return a.before + location
	}
	host, path, _ := strings.Cut(location, "/")
	if strings.Contains(host, ":") || path == "" {
		return "ssh://" + a.before + location
	}
	return a.before + host + ":" + path
}

var hostPattern = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

func isHost(host string) bool { return hostPattern.MatchString(host) }

// dockerHub is the registry of references that name none.
const dockerHub = "docker.io"

// reference is what an image reference consists of, with templates allowed in tag and path.
var reference = regexp.MustCompile(`^[a-z0-9]+([._/-]+[a-z0-9]+)*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@[a-z0-9]+:[0-9a-fA-F]+)?$`)

// image is a reference to an image.
type image struct {
	host string
	// location is the reference in the form that mirrors are written in: host and path.
	location string
	// tagged reports whether it has a tag or a digest.
	tagged bool
}

// parseImage reads a reference. With implied, one that names no registry is of Docker Hub, as
// container runtimes have it.
func parseImage(value string, implied bool) (image, bool) {
	shape := value
	if strings.Contains(value, "{{") {
		// The parts that templates make are unknown, but not the prefix.
		shape = template.ReplaceAllString(value, "x")
	}
	host, path, slash := strings.Cut(value, "/")
	_, shapePath, _ := strings.Cut(shape, "/")
	switch {
	case slash && namesHost(host):
		return image{host: host, location: canonical(host, path), tagged: strings.ContainsAny(path, ":@")}, reference.MatchString(shapePath)
	case !implied || !reference.MatchString(shape) || strings.HasPrefix(value, "{{"):
		return image{}, false
	}
	return image{host: dockerHub, location: canonical(dockerHub, value), tagged: strings.ContainsAny(value, ":@")}, true
}

// namesHost tells a host from the first element of a path, by the rule of container runtimes.
func namesHost(element string) bool {
	return isHost(element) && (strings.ContainsAny(element, ".:") || element == "localhost")
}

// canonical gives Docker Hub's images without an organisation the one that they are in.
func canonical(host, path string) string {
	if host == dockerHub && !strings.Contains(path, "/") {
		return host + "/library/" + path
	}
	return host + "/" + path
}

// full writes a reference out as container runtimes read it.
func full(value string) string {
	if ref, ok := parseImage(value, true); ok {
		return ref.location
	}
	return value
}

// FullImage returns a reference to an image as container runtimes read it, with docker.io and library where they are implied,
// and whether it has a tag or a digest. Unless implied, it must name its registry. It is not ok for what is no reference, and
// for one with a template.
func FullImage(value string, implied bool) (address string, tagged, ok bool) {
	if strings.Contains(value, "{{") {
		return "", false, false
	}
	ref, ok := parseImage(value, implied)
	return ref.location, ref.tagged, ok
}

// template is an action of a Go template.
var template = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
