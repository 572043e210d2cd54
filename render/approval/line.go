// SPDX-License-Identifier: Apache-2.0

package approval

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
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

// Any stands for each version or channel.
const Any = "*"

// MaxLength bounds a line in bytes, as the API does.
const MaxLength = 1024

// Line is one line. Checksum, Application, Instance or Object is set, and no other of them.
type Line struct {
	// Checksum of a render, <algorithm>:<hex>.
	Checksum string
	// Application, or Instance of spec.instances, with its Version: empty for the whole, Any for each of them.
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
	objectNamePattern  = regexp.MustCompile(`^[^\s/#*]+$`) // names of roles may have almost all characters
	majorPattern       = regexp.MustCompile(`^[0-9]+$`)
	pathPattern        = regexp.MustCompile(`^\S(.*\S)?$`)
)

// isVersion reports whether a text is a version or a channel of a line.
func isVersion(text string) bool { return text == Any || versionPattern.MatchString(text) }

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
	if why := l.read(rest); why != "" {
		return fail(why)
	}
	return l, nil
}

// read reads a line without its number, and returns what is wrong with it. The name of an object may have colons, so only the
// words of objects end it.
func (l *Line) read(text string) string {
	if checksumPattern.MatchString(text) {
		l.Checksum = text
		return ""
	}
	subject, word, worded := strings.Cut(text, ":")
	if kind, _, _ := strings.Cut(subject, "/"); kindPattern.MatchString(kind) && kind != instanceKind {
		subject, word, worded = text, "", false
		for _, one := range []string{Live, Identity, Source} {
			if before, found := strings.CutSuffix(text, ":"+one); found {
				subject, word, worded = before, one, true
			}
		}
	}
	if why := l.readSubject(subject); why != "" || !worded {
		return why
	}
	return l.readWord(word)
}

// ParseAll reads lines, and leaves out those that are malformed.
func ParseAll(texts []string) []Line {
	var lines []Line
	for _, text := range texts {
		if line, err := Parse(text); err == nil {
			lines = append(lines, line)
		}
	}
	return lines
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
		if !isVersion(l.Version) {
			return "the version is not one of letters, digits and ._+~-; " + l.Application + "/* names any"
		}
	}
	return ""
}

func (l *Line) readInstance(parts []string) string {
	switch {
	case len(parts) == 0 || len(parts) > 2 || !applicationPattern.MatchString(parts[0]):
		return "Instance/ has the name of an instance behind it, and maybe its version"
	case len(parts) == 2 && !isVersion(parts[1]):
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
		if !isVersion(argument) {
			return "upgrade/ has the version behind it that an instance rises to"
		}
	case Channel:
		if !isVersion(argument) {
			return "channel/ has the name of the channel behind it"
		}
	case Locked:
		if has && !pathPattern.MatchString(argument) {
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

// Writable returns the narrowest line that can be written, and that names what the line names: Any takes the place of a text that
// has no line of its own.
func (l Line) Writable() Line {
	long := len(l.Body()) > MaxLength-len("#999999")
	if l.Version != "" && (long || !isVersion(l.Version)) {
		l.Version = Any
	}
	switch l.Word {
	case Upgrade, Channel:
		if long || !isVersion(l.Argument) {
			l.Argument = Any
		}
	case Locked:
		if long || !pathPattern.MatchString(l.Argument) || numberPattern.MatchString(l.Argument) {
			l.Argument = ""
		}
	}
	return l
}

// Names reports whether the line names the loss that the exact line names: it is the same but for the number, has Any in the place
// of a text, stands for each locked value, or names an object without its group.
func (l Line) Names(exact Line) bool {
	l.Number, exact.Number = 0, 0
	if l.Version == Any && exact.Version != "" {
		l.Version = exact.Version
	}
	if l.Word == Locked && l.Argument == "" || l.Argument == Any && l.Word != Locked {
		l.Argument = exact.Argument
	}
	if l.Object.Kind != "" && l.Object.Group == "" {
		l.Object.Group = exact.Object.Group
	}
	return l == exact
}

// Malformed reports a text that is no line.
type Malformed struct {
	Text, Why string
	// Meant is the line that was meant; empty where that cannot be told.
	Meant string
}

func (e *Malformed) Error() string {
	message := excerpt.Quoted(e.Text) + " names nothing: " + e.Why
	if e.Meant != "" {
		message += " (did you mean " + excerpt.Quoted(e.Meant) + "?)"
	}
	return message
}

// corrections turn frequent mistakes into what was meant, in this order.
var corrections = []struct {
	mistake *regexp.Regexp
	meant   string
}{
	{regexp.MustCompile(`^\s+|\s+$`), ""},
	{regexp.MustCompile(`^(?i:instances?)[/ :]+`), "Instance/"},
	{regexp.MustCompile(`^([a-z0-9][a-z0-9.-]*)(?:@|\s+|:)v?([0-9][A-Za-z0-9._+~-]*)$`), "$1/$2"},
	{regexp.MustCompile(`^([a-z0-9][a-z0-9.-]*)/[A-Za-z0-9._+~-]*\*$`), "$1/*"},
	{regexp.MustCompile(`#[^/#]*$`), ""},
	{regexp.MustCompile(`[/:]+$`), ""},
}

// meant returns the line that a malformed text was meant as; empty where that cannot be told.
func meant(text string) string {
	if len(text) > MaxLength || strings.HasPrefix(text, "sha") {
		return ""
	}
	for _, c := range corrections {
		text = c.mistake.ReplaceAllString(text, c.meant)
		if (&Line{}).parses(text) {
			return text
		}
	}
	// A capital that begins the name of an application makes it a kind.
	if lower := strings.ToLower(text[:min(len(text), 1)]) + text[min(len(text), 1):]; text != instanceKind && (&Line{}).parses(lower) {
		return lower
	}
	return ""
}

// parses reports whether a text is a line, without the search for what was meant.
func (l *Line) parses(text string) bool {
	return l.read(numberPattern.ReplaceAllString(text, "")) == ""
}
