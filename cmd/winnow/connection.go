package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/live"
)

// defaultTimeout is the default of --timeout, that of flux.
const defaultTimeout = 5 * time.Minute

// connection are the flags of the verbs that work on a cluster.
type connection struct {
	kubeconfig, kubeContext, namespace string

	timeout time.Duration
}

func (c *connection) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "`FILE` instead of kubectl's")
	f.StringVar(&c.kubeContext, "context", "", "`NAME` of the context in it")
	f.StringVarP(&c.namespace, "namespace", "n", "", "`NAMESPACE` instead of the context's")
	f.DurationVar(&c.timeout, "timeout", defaultTimeout, "give up after `DURATION`")
	completeNothing(cmd, "context", "namespace", "timeout")
	_ = cmd.MarkFlagFilename("kubeconfig")
}

// on calls f with the cluster, within the timeout.
func (c *connection) on(ctx context.Context, f func(context.Context, *live.Cluster) error) error {
	if c.timeout <= 0 {
		return fmt.Errorf("--timeout %s: use a duration above 0, such as 5m", c.timeout)
	}
	cluster, err := live.Open(c.kubeconfig, c.kubeContext)
	if err != nil {
		return err
	}
	if c.namespace == "" {
		c.namespace = cluster.Namespace
	}
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.explain(f(bounded, cluster))
}

// explain makes findings of the errors about the state of the cluster.
func (c *connection) explain(err error) error {
	var missing *live.NotFoundError
	var suspended *live.SuspendedError
	var pending *live.PendingError
	switch {
	case errors.As(err, &missing), errors.As(err, &suspended):
		return &findingError{err}
	case errors.As(err, &pending):
		return &findingError{fmt.Errorf("after %s: %w", c.timeout, err)}
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the cluster did not answer within %s: %w", c.timeout, err)
	}
	return err
}

// key returns the full name of a selection.
func (c *connection) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: c.namespace, Name: name}
}

// each calls f once for each name, also after one that does not exist. It returns the first other error, or else those
// of the names that do not exist.
func (c *connection) each(names []string, f func(types.NamespacedName) error) error {
	var missing []error
	done := map[string]bool{}
	for _, name := range names {
		if done[name] {
			continue
		}
		done[name] = true
		err := f(c.key(name))
		var notFound *live.NotFoundError
		switch {
		case errors.As(err, &notFound):
			missing = append(missing, err)
		case err != nil:
			return errors.Join(append(missing, err)...)
		}
	}
	return errors.Join(missing...)
}

// completeLive completes names with the selections in the cluster, up to most of them.
func (c *connection) completeLive(most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return withinTime(cmd.Context(), func(ctx context.Context) (names []string) {
			_ = c.on(ctx, func(ctx context.Context, cluster *live.Cluster) error {
				all, err := cluster.Selections(ctx, c.namespace)
				for _, s := range all {
					names = append(names, s.Name)
				}
				return err
			})
			return names
		}), cobra.ShellCompDirectiveNoFileComp
	}
}
