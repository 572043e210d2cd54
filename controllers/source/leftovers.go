// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// fetchPrefix begins the names of the directories that artifacts are downloaded into. The PID of the process follows.
const fetchPrefix = "winnow-fetch-"

// newFetchDir makes a directory for a download.
func newFetchDir() (string, error) {
	return os.MkdirTemp("", fmt.Sprintf("%s%d-", fetchPrefix, os.Getpid()))
}

// RemoveLeftovers removes the downloads of processes that were killed, before this process makes its first: the temporary
// directory of a pod outlives its containers, whose processes all have the same PID.
func RemoveLeftovers() error {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), fetchPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		of, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), fetchPrefix), "-")
		pid, notOurs := strconv.Atoi(of)
		if notOurs != nil || pid != os.Getpid() && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}
