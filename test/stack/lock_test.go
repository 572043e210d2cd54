// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bufio"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestLockExcludesOthersUntilItIsReleased(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release := mustLock(t, path)

	ctx, cancel := context.WithCancel(t.Context())
	_, err := lockFile(ctx, path, cancel) // fails if it has to wait
	if !errors.Is(err, context.Canceled) {
		t.Errorf("locking again: got %v, want context.Canceled", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := mustLock(t, path)(); err != nil {
		t.Error(err)
	}
}

func TestLockIsFreedWhenItsHolderIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	holder := asChild(t, roleLocker, path)
	output, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(output).Scan() {
		t.Fatal("the holder did not start")
	}
	waited := false
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	release, err := lockFile(ctx, path, func() {
		waited = true
		if err := holder.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = holder.Wait() // reports the kill
	})
	if err != nil || !waited {
		t.Fatalf("waited: %t, error: %v", waited, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

func mustLock(t *testing.T, path string) (release func() error) {
	t.Helper()
	release, err := lockFile(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return release
}
