// SPDX-License-Identifier: Apache-2.0

// Package clusterflags has the flags of the verbs that work on a cluster. It must not know what a verb does there.
package clusterflags

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/render/each"
)

// Connection are the flags of the verbs that work on a cluster.
type Connection struct {
	kubeconfig, kubeContext, Namespace string

	Timeout time.Duration
}

// defaultTimeout is the default of --timeout, as in flux.
const defaultTimeout = 5 * time.Minute

// AddFlags adds the flags, and completes them.
func (c *Connection) AddFlags(cmd *cobra.Command) {
	c.AddClusterFlags(cmd)
	cmd.Flags().StringVarP(&c.Namespace, "namespace", "n", "", "`NAMESPACE` instead of the context's")
	// The only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("namespace", c.completeNamespaces)
}

// AddClusterFlags adds the flags of a verb that works on all namespaces, and completes them.
func (c *Connection) AddClusterFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "`FILE` instead of kubectl's")
	f.StringVar(&c.kubeContext, "context", "", "`NAME` of the context in the kubeconfig")
	f.DurationVar(&c.Timeout, "timeout", defaultTimeout, "give up after `DURATION`")
	flags.CompleteNothing(cmd, "timeout")
	_ = cmd.MarkFlagFilename("kubeconfig")
	CompleteContexts(cmd)
}

// Open opens the cluster, and sets an empty namespace to the context's.
func (c *Connection) Open() (*live.Cluster, error) {
	if c.Timeout <= 0 {
		return nil, fmt.Errorf("--timeout %s: use a duration above 0, such as 5m", c.Timeout)
	}
	cluster, err := live.Open(c.kubeconfig, c.kubeContext)
	if err == nil && c.Namespace == "" {
		c.Namespace = cluster.Namespace
	}
	return cluster, err
}

// On calls f with the cluster, within the timeout.
func (c *Connection) On(ctx context.Context, f func(context.Context, *live.Cluster) error) error {
	cluster, err := c.Open()
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return c.Explain(f(bounded, cluster))
}

// Command returns what a command runs: f with the cluster, within the timeout.
func (c *Connection) Command(f func(ctx context.Context, cluster *live.Cluster, args []string, out output.Streams) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return c.On(cmd.Context(), func(ctx context.Context, cluster *live.Cluster) error {
			return f(ctx, cluster, args, flags.StreamsOf(cmd))
		})
	}
}

// Explain turns errors about the state of the cluster into findings.
func (c *Connection) Explain(err error) error {
	var missing *live.NotFoundError
	var suspended *live.SuspendedError
	var pending *live.PendingError
	switch {
	case errors.As(err, &missing), errors.As(err, &suspended):
		return output.Finding(err)
	case errors.As(err, &pending):
		return output.Finding(fmt.Errorf("after %s: %w", c.Timeout, err))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the cluster did not answer within %s: %w", c.Timeout, err)
	}
	return err
}

// Key returns the full name of a selection.
func (c *Connection) Key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: name}
}

// Keys returns the full names of selections.
func (c *Connection) Keys(names []string) []types.NamespacedName {
	return each.Map(names, c.Key)
}

// Each calls f once for each key, also after an error that is about one object. It returns these errors, and the first
// other one.
func (c *Connection) Each(keys []types.NamespacedName, f func(types.NamespacedName) error) error {
	var failed []error
	done := map[types.NamespacedName]bool{}
	for _, key := range keys {
		if done[key] {
			continue
		}
		done[key] = true
		err := f(key)
		if err == nil {
			continue
		}
		failed = append(failed, err)
		if _, isAboutOne := errors.AsType[*output.FindingError](c.Explain(err)); !isAboutOne {
			break
		}
	}
	return errors.Join(failed...)
}

// CompleteLive completes names with the selections in the cluster, up to most of them.
func (c *Connection) CompleteLive(most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, func(ctx context.Context, cluster *live.Cluster) ([]string, error) {
			all, err := cluster.Selections(ctx, c.Namespace, "")
			return each.Map(all, func(s *live.Selection) string { return s.Name }), err
		})
	}
}

// completeNamespaces completes -n with the namespaces that have selections, or with all where the account may not list
// selections of all.
func (c *Connection) completeNamespaces(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return c.complete(cmd, func(ctx context.Context, cluster *live.Cluster) ([]string, error) {
		all, err := cluster.Selections(ctx, "", "")
		if err != nil {
			return cluster.Namespaces(ctx)
		}
		return each.Map(all, func(s *live.Selection) string { return s.Namespace }), nil
	})
}

// complete completes with the names that find returns of the cluster; with none after an error.
func (c *Connection) complete(cmd *cobra.Command, find func(context.Context, *live.Cluster) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	return flags.WithinTime(cmd.Context(), func(ctx context.Context) (names []string) {
		_ = c.On(ctx, func(ctx context.Context, cluster *live.Cluster) (err error) {
			names, err = find(ctx, cluster)
			return err
		})
		return names
	}), cobra.ShellCompDirectiveNoFileComp
}

// CompleteContexts completes --context with the contexts of the kubeconfig, which --kubeconfig may name.
func CompleteContexts(cmd *cobra.Command) {
	// The only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("context", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		kubeconfig, _ := cmd.Flags().GetString("kubeconfig")
		return flags.WithinTime(cmd.Context(), func(context.Context) []string { return live.Contexts(kubeconfig) }), cobra.ShellCompDirectiveNoFileComp
	})
}
