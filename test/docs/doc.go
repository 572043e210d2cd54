// Package docs checks the pages of the repository as a whole: that links between them, and mentions of them in code,
// lead somewhere. It must not know what a page says: the examples of a page are run by the package that they use.
package docs
