// SPDX-License-Identifier: Apache-2.0

package approval

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/winnow-dev/winnow/render/safeguard"
)

// Words say which loss of a subject a line names. A line without a word names that the subject is gone.
const (
	// Live is what lives in a cluster, or is in the inventory of a Kustomization, and was never published here.
	Live = "live"
	// Identity is a change of what decides which live object or release is meant.
	Identity = "identity"
	// Source is another chart, repository, commit or image behind the same version.
	Source = "source"
	// Major is a rise to a major version, the argument.
	Major = "major"
	// Upgrade is an upgrade of an instance to a version, the argument.
	Upgrade = "upgrade"
	// Channel is what a channel, the argument, has no upgrade for, or an instance that follows another channel, the argument.
	Channel = "channel"
	// Locked is a change of a locked value, at the path that is the argument; of any without one.
	Locked = "locked"
)

// AnyVersion is the version that stands for all versions of an application that stays.
const AnyVersion = "*"

// MaxLength bounds a line in bytes, as the API does.
const MaxLength = 1024

// Line is one line. Checksum, Application, Instance or Object is set, and no other of them.
type Line struct {
	// Checksum of a render, <algorithm>:<hex>.
	Checksum string
	// Application, or Instance of spec.instances, with its Version: empty for the whole, AnyVersion for any of them.
	Application, Instance, Version string
	// Object of Kubernetes; its group may be empty.
	Object safeguard.Key
	// Word and its Argument; empty for what is gone.
	Word, Argument string
	// Number makes a line that was used a new one; 0 for none.
	Number int
}

var (
	checksumPattern    = regexp.MustCompile(`^[a-z0-9]+:[a-f0-9]{32,128}$`)
	numberPattern      = regexp.MustCompile(`#([1-9][0-9]{0,5})$`)
	applicationPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	versionPattern     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+~-]*$`)
	kindPattern        = regexp.MustCompile(`^([A-Z][A-Za-z0-9]*)(?:\.([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?))?$`)
	objectNamePattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]*$`)
	majorPattern       = regexp.MustCompile(`^[0-9]+$`)
	channelPattern     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+~-]*$`)
)

// HasLine reports whether a version has a line of its own.
func HasLine(version string) bool { return versionPattern.MatchString(version) }

// instanceKind is the word before the name of an instance.
const instanceKind = "Instance"

// Parse reads a line. The error says what is wrong, and what was meant where that can be told.
func Parse(text string) (Line, error) {
	fail := func(why string) (Line, error) { return Line{}, &Malformed{Text: text, Why: why, Meant: meant(text)} }
	if len(text) > MaxLength {
		return fail(fmt.Sprintf("it has more than %d bytes", MaxLength))
	}
	var l Line
	rest := text
	if m := numberPattern.FindStringSubmatch(text); m != nil {
		l.Number, _ = strconv.Atoi(m[1])
		rest = strings.TrimSuffix(text, m[0])
	}
	if checksumPattern.MatchString(rest) {
		l.Checksum = rest
		return l, nil
	}
	subject, word, worded := strings.Cut(rest, ":")
	if why := l.readSubject(subject); why != "" {
		return fail(why)
	}
	if worded {
		if why := l.readWord(word); why != "" {
			return fail(why)
		}
	}
	return l, nil
}

// readSubject reads what stands before the word, and returns what is wrong with it.
func (l *Line) readSubject(subject string) string {
	parts := strings.Split(subject, "/")
	if kind := kindPattern.FindStringSubmatch(parts[0]); kind != nil {
		if kind[1] == instanceKind && kind[2] == "" {
			return l.readInstance(parts[1:])
		}
		return l.readObject(kind[1], kind[2], parts[1:])
	}
	switch {
	case !applicationPattern.MatchString(parts[0]):
		return "it does not begin with the name of an application, Instance/ or the kind of an object"
	case len(parts) > 2:
		return "an application has one version behind its slash"
	}
	l.Application = parts[0]
	if len(parts) == 2 {
		l.Version = parts[1]
		if l.Version != AnyVersion && !HasLine(l.Version) {
			return "the version is not one of letters, digits and ._+~-; " + l.Application + "/* names any"
		}
	}
	return ""
}

func (l *Line) readInstance(parts []string) string {
	switch {
	case len(parts) == 0 || len(parts) > 2 || !applicationPattern.MatchString(parts[0]):
		return "Instance/ has the name of an instance behind it, and maybe its version"
	case len(parts) == 2 && !HasLine(parts[1]):
		return "the version is not one of letters, digits and ._+~-"
	}
	l.Instance = parts[0]
	if len(parts) == 2 {
		l.Version = parts[1]
	}
	return ""
}

func (l *Line) readObject(kind, group string, parts []string) string {
	l.Object = safeguard.Key{Group: group, Kind: kind}
	switch len(parts) {
	case 1:
		l.Object.Name = parts[0]
	case 2:
		l.Object.Namespace, l.Object.Name = parts[0], parts[1]
	}
	if !objectNamePattern.MatchString(l.Object.Name) || l.Object.Namespace != "" && !applicationPattern.MatchString(l.Object.Namespace) {
		return "a kind has the name of its object behind it, with the namespace before the name where it has one"
	}
	return ""
}

// readWord reads what stands behind the colon, and returns what is wrong with it.
func (l *Line) readWord(text string) string {
	word, argument, has := strings.Cut(text, "/")
	l.Word, l.Argument = word, argument
	switch word {
	case Live, Identity, Source:
		if has {
			return "nothing stands behind " + word
		}
	case Major:
		if !majorPattern.MatchString(argument) {
			return "major/ has the number of the major version behind it"
		}
	case Upgrade:
		if !HasLine(argument) {
			return "upgrade/ has the version behind it that an instance rises to"
		}
	case Channel:
		if !channelPattern.MatchString(argument) {
			return "channel/ has the name of the channel behind it"
		}
	case Locked:
		if has && argument == "" {
			return "locked/ has the path of the value behind it"
		}
	default:
		return "the word behind the colon is none of live, identity, source, major/N, upgrade/V, channel/C and locked"
	}
	return ""
}

// String returns the line as text.
func (l Line) String() string {
	if l.Number > 0 {
		return l.Body() + "#" + strconv.Itoa(l.Number)
	}
	return l.Body()
}

// Body returns the line without its number: lines with the same body name the same.
func (l Line) Body() string {
	body := l.Checksum
	switch {
	case l.Application != "":
		body = l.Application
	case l.Instance != "":
		body = instanceKind + "/" + l.Instance
	case l.Object.Kind != "":
		body = strings.TrimSuffix(l.Object.Kind+"."+l.Object.Group, ".") + "/" + l.Object.FullName()
	}
	if l.Version != "" {
		body += "/" + l.Version
	}
	if l.Word != "" {
		body += ":" + l.Word
	}
	if l.Argument != "" {
		body += "/" + l.Argument
	}
	return body
}

// Names reports whether the line names the loss that the exact line names: it is the same but for the number, stands for any
// version or any locked value, or names the object of a definition without its group.
func (l Line) Names(exact Line) bool {
	l.Number, exact.Number = 0, 0
	if l.Version == AnyVersion && exact.Version != "" {
		l.Version = exact.Version
	}
	if l.Word == Locked && exact.Word == Locked && l.Argument == "" {
		l.Argument = exact.Argument
	}
	if l.Object.Kind != "" && l.Object.Group == "" {
		l.Object.Group = exact.Object.Group
	}
	return l == exact
}

// Subject returns what the line is about, without its version, word and number.
func (l Line) Subject() Line {
	l.Version, l.Word, l.Argument, l.Number = "", "", "", 0
	return l
}

// Compare orders lines by their bodies, then by their numbers.
func Compare(a, b Line) int {
	return cmp.Or(strings.Compare(a.Body(), b.Body()), cmp.Compare(a.Number, b.Number))
}
