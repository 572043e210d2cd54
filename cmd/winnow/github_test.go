// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// gitHub serves and stores the comments of pull request 7 of org/fleet, and pull requests.
type gitHub struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	comments []gitHubComment
	pulls    []gitHubPull
	failing  string // method that fails
	status   int
}

type gitHubComment struct {
	ID   int               `json:"id"`
	User map[string]string `json:"user"`
	Body string            `json:"body"`
}

type gitHubPull struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	Head   string `json:"head"`
	Base   string `json:"base"`
}

type gitHubKey struct{}

func startGitHub() *gitHub {
	g := &gitHub{comments: []gitHubComment{}} // [] in JSON, not null
	g.Server = httptest.NewServer(g)
	return g
}

const gitHubBot = "github-actions[bot]"

func (g *gitHub) add(login, body string) gitHubComment {
	c := gitHubComment{ID: 100 + len(g.comments), User: map[string]string{"login": login}, Body: body}
	g.comments = append(g.comments, c)
	return c
}

func (g *gitHub) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests = append(g.requests, req.Method+" "+req.URL.RequestURI())
	if req.Header.Get("Authorization") != "Bearer "+token {
		reply(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	if g.failing == req.Method {
		// A message of GitHub must not become a command of the runner, nor a separate line.
		reply(w, g.status, map[string]string{"message": "Resource not accessible\n::add-mask::x"})
		return
	}
	const all, one, pulls = "/repos/org/fleet/issues/7/comments", "/repos/org/fleet/issues/comments/", "/repos/org/fleet/pulls"
	var sent gitHubPull
	if req.Method != http.MethodGet && json.NewDecoder(req.Body).Decode(&sent) != nil {
		reply(w, http.StatusBadRequest, nil)
		return
	}
	id, _ := strconv.Atoi(strings.TrimPrefix(req.URL.Path, one))
	switch {
	case req.Method == http.MethodGet && req.URL.Path == all:
		page, _ := strconv.Atoi(req.URL.Query().Get("page"))
		size, _ := strconv.Atoi(req.URL.Query().Get("per_page"))
		from := min((page-1)*size, len(g.comments))
		reply(w, http.StatusOK, g.comments[from:min(from+size, len(g.comments))])
	case req.Method == http.MethodPost && req.URL.Path == all:
		reply(w, http.StatusCreated, g.add(gitHubBot, sent.Body))
	case req.Method == http.MethodPatch && id >= 100 && id < 100+len(g.comments):
		g.comments[id-100].Body = sent.Body
		reply(w, http.StatusOK, g.comments[id-100])
	case req.Method == http.MethodGet && req.URL.Path == pulls:
		found := []gitHubPull{}
		for _, pull := range g.pulls {
			if query := req.URL.Query(); query.Get("head") == "org:"+pull.Head && query.Get("base") == pull.Base {
				found = append(found, pull)
			}
		}
		reply(w, http.StatusOK, found)
	case req.Method == http.MethodPost && req.URL.Path == pulls:
		sent.Number = len(g.pulls) + 1
		g.pulls = append(g.pulls, sent)
		reply(w, http.StatusCreated, sent)
	case req.Method == http.MethodPatch && req.URL.Path == pulls+"/1" && len(g.pulls) > 0:
		sent.Number = 1
		g.pulls[0] = sent
		reply(w, http.StatusOK, sent)
	default:
		reply(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
	}
}

func reply(w http.ResponseWriter, status int, content any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(content)
}

// askGitHub implements the commands
//
//	github requests               prints the requests since the last call, or none
//	github comments LOGIN N       adds N comments of a user
//	github comment LOGIN FILE     adds a comment
//	github pull                   prints the pull request
//	github body ID                prints a comment and a last line with its author
//	github crlf ID                ends the lines of a comment as browsers do
//	github fail METHOD STATUS     fails from now on; GET 200 never does
func askGitHub(ts *testscript.TestScript, neg bool, args []string) {
	g, ok := ts.Value(gitHubKey{}).(*gitHub)
	if neg || !ok || len(args) == 0 {
		ts.Fatalf("usage: github COMMAND ...")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		ts.Check(err)
		return n
	}
	switch args[0] {
	case "requests":
		if len(g.requests) == 0 {
			g.requests = []string{"none"}
		}
		for _, request := range g.requests {
			fmt.Fprintln(ts.Stdout(), request)
		}
		g.requests = nil
	case "comments":
		for range number(args[2]) {
			g.add(args[1], "I like it.")
		}
	case "comment":
		g.add(args[1], ts.ReadFile(args[2]))
	case "pull":
		fmt.Fprintf(ts.Stdout(), "%s\n%s -> %s\n%s\n", g.pulls[0].Title, g.pulls[0].Head, g.pulls[0].Base, g.pulls[0].Body)
	case "body":
		c := g.comments[number(args[1])-100]
		fmt.Fprintf(ts.Stdout(), "%s\nby %s\n", c.Body, c.User["login"])
	case "crlf":
		c := &g.comments[number(args[1])-100]
		c.Body = strings.ReplaceAll(strings.TrimSpace(c.Body), "\n", "\r\n")
	case "fail":
		g.failing, g.status = args[1], number(args[2])
	default:
		ts.Fatalf("unknown command %s", args[0])
	}
}
