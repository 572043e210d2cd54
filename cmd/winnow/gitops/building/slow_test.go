// SPDX-License-Identifier: Apache-2.0

package building

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
)

// A build that exceeds the limit is abandoned, later builds are not started, and their objects are
// unknown.
func TestABuildHasATimeLimit(t *testing.T) {
	if limit := NewBuilder().limit; limit != time.Minute {
		t.Errorf("a build may take %s, want a minute", limit)
	}
	ended := make(chan struct{})
	defer close(ended)
	var builds atomic.Int32
	slow := &Builder{built: map[string]*built{}, limit: 50 * time.Millisecond, kustomize: func(filesys.FileSystem, string) (resmap.ResMap, error) {
		builds.Add(1)
		<-ended
		return nil, errors.New("nobody waits for this")
	}}
	files := func() *fileSystem { return &fileSystem{} }
	if _, err := slow.run(t.Context(), files(), root); !errors.Is(err, errSlow) {
		t.Errorf("the first build ends with %v, want %v", err, errSlow)
	}
	if _, err := slow.run(t.Context(), files(), root); err == nil || !strings.Contains(err.Error(), "has not ended") || builds.Load() != 1 {
		t.Errorf("the second of %d builds ends with %v", builds.Load(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	interrupted := &Builder{limit: time.Hour, kustomize: slow.kustomize}
	if _, err := interrupted.run(ctx, files(), root); !errors.Is(err, errSlow) {
		t.Errorf("what is interrupted ends with %v", err)
	}
}

// A build that exceeds the limit and ends at its next read does not block later builds.
func TestABuildThatIsLateEndsAtItsNextFile(t *testing.T) {
	late := &Builder{limit: 20 * time.Millisecond, kustomize: func(files filesys.FileSystem, _ string) (resmap.ResMap, error) {
		<-files.(*fileSystem).ctx.Done()
		_, err := files.ReadFile(root + "/x.yaml")
		return nil, err
	}}
	files := &fileSystem{tree: &repository.Tree{Files: map[string]repository.Blob{"x.yaml": {}}}}
	if _, err := late.run(t.Context(), files, root); !errors.Is(err, errSlow) {
		t.Errorf("it ends with %v, want %v", err, errSlow)
	}
}
