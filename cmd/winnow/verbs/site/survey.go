// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/cmd/winnow/diffview"
	"github.com/winnow-dev/winnow/cmd/winnow/documents"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/commits"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/observed"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/selections"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stagefile"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/stages"
	"github.com/winnow-dev/winnow/cmd/winnow/gitops/usage"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt/pulling"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/site/model"
	"github.com/winnow-dev/winnow/render/diff"
	"github.com/winnow-dev/winnow/render/diff/comparing"
)

// week is the age of the commit with which HEAD is compared.
const week = 7 * 24 * time.Hour

// survey reads the repository of --git.
func (o *options) survey(ctx context.Context, open *catalogs) (*model.Survey, error) {
	git := repository.Git{Dir: o.git}
	head, err := git.Commit(ctx, "HEAD")
	if err != nil {
		return nil, fmt.Errorf("--git %s: %w", o.git, err)
	}
	s := &model.Survey{Head: head, Since: map[string]time.Time{}, Clusters: map[string][]string{}, Observed: map[[2]string]*observed.Cluster{}}
	if s.At, err = git.Time(ctx, head); err != nil {
		return nil, err
	}
	if o.base == "" {
		s.Base, err = git.Before(ctx, head, week)
	} else {
		s.Base, err = git.Commit(ctx, o.base)
	}
	if err != nil {
		return nil, fmt.Errorf("--base: %w", err)
	}
	root, err := git.Root(ctx, ".")
	if err != nil {
		return nil, err
	}
	s.Survey, err = selections.Look(ctx, s.Base, head, selections.Options{
		Dir: o.git, Paths: []string{root}, Repositories: o.repositories, Open: open.open, Rendered: commits.Rendered(&o.access),
	})
	if err != nil {
		return nil, err
	}
	remotes, err := git.Remotes(ctx)
	if err != nil {
		return nil, err
	}
	for _, remote := range slices.Sorted(maps.Keys(remotes)) {
		if s.Remote == "" || remotes[remote] == "origin" {
			s.Remote = remote
		}
	}
	var withKeys []observed.Stage
	err = git.ReadTree(ctx, head, func(tree *repository.Tree) error {
		for _, stage := range s.Stages {
			s.Clusters[stage.File] = stages.Names(tree, stage.File)
		}
		withKeys, err = o.observedStages(tree, s)
		return err
	})
	if err == nil {
		err = since(ctx, git, s)
	}
	if err == nil && o.receipts != "" {
		err = o.observe(ctx, git, s, withKeys)
	}
	return s, err
}

// observedStages returns the stages whose clusters have keys; none without --receipts.
func (o *options) observedStages(tree *repository.Tree, s *model.Survey) (all []observed.Stage, err error) {
	for _, stage := range s.Stages {
		if o.receipts == "" || len(s.Clusters[stage.File]) == 0 {
			continue
		}
		url, _ := model.Split(stage.Reference.Catalog)
		one := observed.Stage{Label: model.PlaceOf(stage), Placed: stages.Placed{File: stage.File, Stage: stagefile.Stage{
			Namespace: stage.Namespace, Name: stage.Name, URL: url, Digest: stage.Reference.Digest, Insecure: stage.Reference.PlainHTTP,
		}}}
		if one.Clusters, err = stages.Clusters(tree, one.Placed); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// observe adds what the clusters of stages have applied, and who uses what is deprecated.
func (o *options) observe(ctx context.Context, git repository.Git, s *model.Survey, all []observed.Stage) error {
	below, err := o.access.ConnectBelow(ctx, o.receipts)
	if err != nil {
		return fmt.Errorf("--receipts: %w", err)
	}
	report := published(s)
	users, err := stages.UsersAt(ctx, git, s.Head)
	if err != nil {
		return err
	}
	questions, clusters, now := usage.Of(report, users), observed.ClustersOf(all), time.Now()
	receipts, err := pulling.Pull(ctx, below, slices.Concat(clusters, questions.Clusters), now, pulling.Timeout)
	if err != nil {
		return err
	}
	report.Uses = questions.Answer(receipts[len(clusters):], now)
	s.Uses = diffview.Uses(report)
	found, err := observed.Observer{Rendered: commits.Rendered(&o.access), Git: git, Commit: s.Head, Now: now, MaxAge: pulling.MaxAge}.Observe(ctx, all, receipts[:len(clusters)])
	for _, c := range found {
		s.Observed[[2]string{c.Stage, c.Name}] = c
	}
	return err
}

// published returns a report on what is published: it loses nothing, and has what is deprecated.
func published(s *model.Survey) *diff.Report {
	report := &diff.Report{From: s.Head}
	for _, p := range s.Published {
		if p.Side != nil {
			same := comparing.Unchanged(p.Side)
			same.File, same.OldFile = p.File, p.File
			report.Selections = append(report.Selections, same)
		}
	}
	return report
}

// maxHistories bounds the files whose history is read for one revision.
const maxHistories = 5

// since finds out since when Git names the revisions of repositories, where it names several of one.
func since(ctx context.Context, git repository.Git, s *model.Survey) error {
	named := map[string]map[string][]documents.Source{} // by repository and address
	add := func(address string, source documents.Source) {
		of, _ := model.Split(address)
		if named[of] == nil {
			named[of] = map[string][]documents.Source{}
		}
		named[of][address] = append(named[of][address], source)
	}
	for _, p := range s.Published {
		for i, r := range p.References {
			if r.Catalog != "" {
				add(r.Catalog, p.Sources[i])
			}
		}
	}
	for _, stage := range s.Stages {
		add(stage.Reference.Catalog, stage.Source)
	}
	for _, addresses := range named {
		if len(addresses) < 2 {
			continue
		}
		for address, sources := range addresses {
			if at := sinceOf(ctx, git, s.Head, address, sources); !at.IsZero() {
				s.Since[address] = at
			}
		}
	}
	return ctx.Err()
}

// names reports whether a file has an OCIRepository of a name with a revision as it is: a tag after a colon, or a digest after @.
func names(content []byte, name, revision string) bool {
	found, err := stagefile.Find(content)
	return err == nil && slices.ContainsFunc(found, func(s stagefile.Stage) bool {
		if s.Digest != "" {
			return s.Name == name && revision == "@"+s.Digest
		}
		return s.Name == name && s.Follows == "tag "+strings.TrimPrefix(revision, ":")
	})
}

// sinceOf returns the earliest time since which the files of sources have had a revision; zero where none has it as it is, or
// where a history cannot be read.
func sinceOf(ctx context.Context, git repository.Git, head, address string, sources []documents.Source) (earliest time.Time) {
	_, written := model.Split(address)
	seen := map[string]bool{}
	for _, source := range sources {
		has := func(content []byte) bool { return names(content, source.Name, written) }
		for _, file := range append([]string{source.File}, source.Inputs...) {
			if seen[file] || !repository.IsYAML(file) {
				continue
			}
			seen[file] = true
			content, err := git.Content(ctx, head, file)
			if err != nil || !has(content) {
				continue
			}
			if len(seen) > maxHistories && !earliest.IsZero() {
				return earliest
			}
			change, err := git.Since(ctx, head, file, has)
			if err != nil {
				return time.Time{}
			}
			if earliest.IsZero() || change.At.Before(earliest) {
				earliest = change.At
			}
		}
	}
	return earliest
}
