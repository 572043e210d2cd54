// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const archive = "content of an archive"

// process is one of several controllers.
type process struct {
	*httptest.Server
	elected chan struct{}
	leader  string
}

func newProcess(t *testing.T, files ...string) *process {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &process{elected: make(chan struct{})}
	p.Server = httptest.NewServer(NewHandler(dir, p.elected, func() string { return p.leader }))
	t.Cleanup(p.Close)
	return p
}

func (p *process) address() string { return strings.TrimPrefix(p.URL, "http://") }

func (p *process) answer(t *testing.T, method, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, p.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestOnlyTheLeaderServesItsOwnStorage(t *testing.T) {
	leader, standby, gone := newProcess(t, "a.tar.gz"), newProcess(t, "old.tar.gz"), newProcess(t)
	close(leader.elected)
	gone.Close()
	for _, test := range []struct {
		name, method, path, leader string
		status                     int
		body                       string
	}{
		{"no leader is known", http.MethodGet, "/a.tar.gz", "", http.StatusServiceUnavailable, ""},
		{"it is not ready without a leader", http.MethodGet, "/", "", http.StatusServiceUnavailable, ""},
		{"it is ready with one", http.MethodGet, "/", leader.address(), http.StatusOK, ""},
		{"an archive of the leader", http.MethodGet, "/a.tar.gz", leader.address(), http.StatusOK, archive},
		{"its head", http.MethodHead, "/a.tar.gz", leader.address(), http.StatusOK, ""},
		{"an archive of its own", http.MethodGet, "/old.tar.gz", leader.address(), http.StatusNotFound, ""},
		{"a write", http.MethodPost, "/a.tar.gz", leader.address(), http.StatusMethodNotAllowed, ""},
		{"the leader does not answer", http.MethodGet, "/a.tar.gz", gone.address(), http.StatusBadGateway, ""},
		{"two that take each other for the leader", http.MethodGet, "/a.tar.gz", standby.address(), http.StatusServiceUnavailable, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			standby.leader = test.leader
			status, body := standby.answer(t, test.method, test.path)
			if status != test.status || test.status == http.StatusOK && body != test.body {
				t.Errorf("%d %q, want %d %q", status, body, test.status, test.body)
			}
		})
	}
	t.Run("once it leads", func(t *testing.T) {
		close(standby.elected)
		if status, body := standby.answer(t, http.MethodGet, "/old.tar.gz"); status != http.StatusOK || body != archive {
			t.Errorf("%d %q", status, body)
		}
		if status, _ := standby.answer(t, http.MethodGet, "/a.tar.gz"); status != http.StatusNotFound {
			t.Errorf("an archive of the former leader: %d", status)
		}
	})
}

// lease is a lock that another process holds.
type lease struct {
	resourcelock.Interface
	record resourcelock.LeaderElectionRecord
	err    error
}

func (l *lease) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record := l.record
	return &record, nil, l.err
}

func TestTheLeaderIsTheHolderOfAValidLease(t *testing.T) {
	for _, test := range []struct {
		name, holder string
		age          time.Duration // since the record was first read
		err          error
		want         string
	}{
		{name: "nobody", holder: ""},
		{name: "another pod", holder: "pod_10.0.0.7:9090_1234", want: "10.0.0.7:9090"},
		{name: "another pod, with IPv6", holder: "pod_[fd00::7]:9090_1234", want: "[fd00::7]:9090"},
		{name: "just valid", holder: "pod_10.0.0.7:9090_1234", age: 35*time.Second - 1, want: "10.0.0.7:9090"},
		{name: "expired", holder: "pod_10.0.0.7:9090_1234", age: 35 * time.Second},
		{name: "this pod, whose container was restarted", holder: "pod_10.0.0.1:9090_1234"},
		{name: "an older version", holder: "pod_1234"},
		{name: "a pod that does not know its IP", holder: "pod__1234"},
		{name: "a name", holder: "pod_example.com:80_1234"},
		{name: "the loopback of this node", holder: "pod_127.0.0.1:9090_1234"},
		{name: "its loopback as IPv6", holder: "pod_[::ffff:127.0.0.1]:9090_1234"},
		{name: "the metadata of its cloud", holder: "pod_169.254.169.254:80_1234"},
		{name: "no address", holder: "pod_0.0.0.0:80_1234"},
		{name: "a group", holder: "pod_224.0.0.1:80_1234"},
		{name: "not read", holder: "pod_10.0.0.7:9090_1234", err: errors.New("no answer")},
	} {
		t.Run(test.name, func(t *testing.T) {
			now := time.Now()
			l := &Lock{
				Interface: &lease{record: resourcelock.LeaderElectionRecord{HolderIdentity: test.holder, LeaseDurationSeconds: 35}, err: test.err},
				own:       "10.0.0.1:9090", now: func() time.Time { return now },
			}
			for range 2 { // reading it once more does not renew it
				if _, _, err := l.Get(t.Context()); !errors.Is(err, test.err) {
					t.Error(err)
				}
				if got := l.Leader(); test.age == 0 && got != test.want {
					t.Errorf("Leader() = %q, want %q", got, test.want)
				}
				now = now.Add(test.age / 2)
			}
			now = now.Add(test.age % 2)
			if got := l.Leader(); got != test.want {
				t.Errorf("Leader() = %q, want %q", got, test.want)
			}
		})
	}
}

func TestPodAddress(t *testing.T) {
	for _, test := range []struct {
		ip, listening, want string
		fails               bool
	}{
		{ip: "10.0.0.7", listening: ":9090", want: "10.0.0.7:9090"},
		{ip: "fd00::7", listening: "0.0.0.0:80", want: "[fd00::7]:80"},
		{ip: "", listening: ":9090"},
		{ip: "10.0.0.7", listening: "9090", fails: true},
		{ip: "10.0.0.7", listening: ":http", fails: true},
		{ip: "pod", listening: ":9090", fails: true},
	} {
		if got, err := PodAddress(test.ip, test.listening); got != test.want || (err != nil) != test.fails {
			t.Errorf("PodAddress(%q, %q) = %q, %v", test.ip, test.listening, got, err)
		}
	}
}
