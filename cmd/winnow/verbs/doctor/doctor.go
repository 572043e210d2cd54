// SPDX-License-Identifier: Apache-2.0

// Package doctor is winnow doctor: it examines an installation of Winnow and Flux, and reports what to do. It must not change a cluster.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
)

// options are the flags of winnow doctor.
type options struct {
	clusterflags.Connection

	// number is the version of this program.
	number string
	output *flags.Choice
}

// New returns winnow doctor, of a program with the version.
func New(number string) *cobra.Command {
	o := options{number: number}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine an installation of Winnow and Flux",
		Long: "Examine an installation of Winnow and Flux: each line is ok, or a problem with\n" +
			"what to do, or unknown.\n\n" +
			"  kubernetes  the version\n" +
			"  flux        the versions of its controllers\n" +
			"  gate        ExternalArtifact of kustomize-controller\n" +
			"  controller  its version and its pods\n" +
			"  crd         fields that the CustomResourceDefinition lacks\n" +
			"  rights      what the controller may not do, and the selections need\n" +
			"  flags       flags of the controller that the selections need\n" +
			"  storage     the address of artifacts, and the domain of the cluster\n" +
			"  leftovers   definitions that are bypassed, or that left an artifact\n\n" +
			"It finds the Deployments by their names and the label app.kubernetes.io/part-of,\n" +
			"winnow or flux. What cannot be read is unknown, with the right that you need. To\n" +
			"check the rights of the controller, you need to create subjectaccessreviews.\n\n" +
			"Exit codes: 0 all is ok, 1 a problem, 2 usage, no access, or something is\n" +
			"unknown and nothing is a problem.",
		Example: "  winnow doctor\n" +
			"  winnow doctor --context berlin -o json",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              o.Command(o.run),
	}
	o.AddClusterFlags(cmd)
	o.output = flags.AddFormats(cmd, output.FormatTable, output.FormatJSON, output.FormatYAML)
	return cmd
}

func (o *options) run(ctx context.Context, cluster *live.Cluster, _ []string, out output.Streams) error {
	e := &examiner{installation: read(ctx, cluster), Examination: newExamination(), number: o.number}
	both := cmp.Or(e.unread, e.unlisted)
	if both == nil && len(e.of["winnow"]) == 0 {
		both = errAbsent
	}
	registries := both
	if both == nil {
		e.reaches, registries = e.reached(ctx)
	}
	for _, check := range []struct {
		name  string
		needs error // of what it reads in the installation
		run   func(context.Context) error
	}{
		{"kubernetes", nil, e.kubernetes}, {"flux", cmp.Or(e.unread, e.unlisted), e.flux}, {"gate", e.unread, e.gate}, {"controller", e.unread, e.controller},
		{"crd", nil, e.crd}, {"rights", registries, e.rights}, {"flags", registries, e.flags}, {"storage", both, e.storage}, {"leftovers", nil, e.leftovers},
	} {
		e.check = check.name
		err := check.needs
		if err == nil {
			err = check.run(ctx)
		}
		switch {
		case err == nil:
		case check.name == "kubernetes" && !apierrors.IsForbidden(err), errors.Is(err, context.Canceled):
			return fmt.Errorf("examining %s: %w", check.name, err) // no check can be made
		default:
			e.add(unknown, "%s", unknownBecause(err))
		}
	}
	if err := output.Write(out.Stdout, o.output.Value, e.Examination); err != nil {
		return err
	}
	switch {
	case e.has(problem):
		return output.Finding(errors.New("the installation has problems"))
	case e.has(unknown):
		return errors.New("a part of the installation is unknown")
	}
	return nil
}
