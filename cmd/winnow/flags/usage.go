// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/render/spelling"
)

// fewVerbs is how many verbs an error lists at most.
const fewVerbs = 4

// UnknownVerb returns the error for a verb that root does not have.
func UnknownVerb(root *cobra.Command, name string) error {
	var known []string
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			known = append(known, cmd.Name())
		}
	}
	meant := DidYouMean(name, "", known)
	if meant == ";" && len(known) <= fewVerbs {
		meant = "; it has " + strings.Join(known, ", ") + ";"
	}
	return fmt.Errorf("unknown command %q%s see %s --help", name, meant, root.CommandPath())
}

// RootArguments refuses what follows the program's name and is no verb.
func RootArguments(root *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownVerb(root, args[0])
	}
	return nil
}

// FlagError explains an error of the flags. Flags after an unknown verb are parsed as flags of the root.
func FlagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 {
		return UnknownVerb(cmd, args[0])
	}
	meant := ";"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		if advice := catalogAdvice[cmd.Name()]; "--"+unknown.GetSpecifiedName() == SourceFlag && advice != "" {
			return fmt.Errorf("%w: %s", err, advice)
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		meant = DidYouMean(unknown.GetSpecifiedName(), "--", known)
	} else if ok && unknown.GetSpecifiedName() == "n" && cmd.Flags().Lookup("file") != nil {
		meant = ": " + cmd.Name() + " reads files, and no cluster: pass the selection by -f;"
	}
	return fmt.Errorf("%w%s see %s --help", err, meant, cmd.CommandPath())
}

var exclusivePattern = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.+)\] were all set$`)

// Exclusive returns cobra's error on flags that exclude each other with the flags as they are typed, and others as they are.
func Exclusive(err error) error {
	if match := exclusivePattern.FindStringSubmatch(err.Error()); match != nil {
		return fmt.Errorf("--%s exclude each other", strings.Join(strings.Fields(match[1]), " and --"))
	}
	return err
}

// Arguments returns a check of the number of arguments. Its error names the expected arguments.
func Arguments(least, most int, expected string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		problem := ""
		switch {
		case len(args) > most:
			problem = ": " + unexpected(cmd, args[most:])
		case len(args) < least && len(args) > 0:
			problem = ", and got only " + shown(args)
		case len(args) >= least:
			return nil
		}
		return fmt.Errorf("%s needs %s%s; see %s --help", cmd.Name(), expected, problem, cmd.CommandPath())
	}
}

// DidYouMean returns "; did you mean A or B?" for the known names that resemble name, or ";".
func DidYouMean(name, prefix string, known []string) string {
	near := spelling.Nearest(name, known)
	if len(near) == 0 {
		return ";"
	}
	return "; did you mean " + prefix + strings.Join(near, " or "+prefix) + "?"
}

// catalogAdvice maps verbs without --source to how they take catalogs.
var catalogAdvice = map[string]string{
	"diff": "diff takes its catalogs by --from and --to",
	"push": "push takes its catalog as an argument; did you mean: winnow push DIR oci://HOST/REPOSITORY:TAG?",
}

// SourceArguments checks the arguments of a verb that takes its catalog with --source alone. expected names the
// argument that it takes, if any.
func SourceArguments(expected ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		sources, _ := cmd.Flags().GetStringArray("source") // the only error is that there is no such flag
		if len(args) == len(expected)+1 && len(sources) == 0 {
			args = slices.Clone(args) // the catalog first: the name of an application has no slash
			slices.SortStableFunc(args, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
			return fmt.Errorf("%s takes its catalog with %s; did you mean: %s %s %s%s?", cmd.Name(), SourceFlag,
				cmd.CommandPath(), SourceFlag, shown(args), selectionFlag(cmd))
		}
		return argumentError(cmd, args, expected)
	}
}

// selectionFlag returns -f as it was given.
func selectionFlag(cmd *cobra.Command) string {
	if f := cmd.Flags().Lookup("file"); f != nil && f.Changed {
		return " -f " + plaintext.Line(f.Value.String())
	}
	return ""
}

// argumentError returns an error that names the arguments that are missing or too many.
func argumentError(cmd *cobra.Command, args, expected []string) error {
	switch {
	case len(args) < len(expected):
		return fmt.Errorf("%s needs one %s; see %s --help", cmd.Name(), strings.Join(expected, " and "), cmd.CommandPath())
	case len(args) > len(expected) && len(expected) == 0:
		return fmt.Errorf("%s takes no arguments: %s; see %s --help", cmd.Name(), unexpected(cmd, args), cmd.CommandPath())
	case len(args) > len(expected):
		return fmt.Errorf("%s takes one %s: %s; see %s --help", cmd.Name(), strings.Join(expected, " and "),
			unexpected(cmd, args[len(expected):]), cmd.CommandPath())
	}
	return nil
}

// unexpected describes arguments that are too many.
func unexpected(cmd *cobra.Command, args []string) string {
	text := "unexpected " + shown(args)
	if f := cmd.Flags().Lookup(plainFlag); f != nil && f.Changed {
		text += ", and --" + plainFlag + " takes HOST after ="
	}
	return text
}

// shown returns arguments as text for a line.
func shown(args []string) string { return plaintext.Brief(strings.Join(args, " "), plaintext.MaxLine) }

// NoArguments refuses all arguments.
func NoArguments(cmd *cobra.Command, args []string) error { return argumentError(cmd, args, nil) }

// OneOf returns a check for a verb with one argument, which must be one of the words.
func OneOf(words ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && slices.Contains(words, args[0]) {
			return nil
		}
		problem := ""
		if len(args) > 0 {
			problem = ": unexpected " + shown(args)
		}
		return fmt.Errorf("%s needs one of %s%s; see %s --help", cmd.Name(), strings.Join(words, ", "), problem, cmd.CommandPath())
	}
}

// SourceFlag is the flag that messages name for a missing catalog.
const SourceFlag = "--source"

// FileUsage describes -f of all verbs.
const FileUsage = "`FILE` or directory of a selection, - for stdin"
