// Package docs checks the pages of the repository as a whole: that the targets of links, and of mentions in code,
// exist. It must not know the content of a page: the package that an example uses tests the example.
package docs
