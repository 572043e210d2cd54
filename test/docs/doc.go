// SPDX-License-Identifier: Apache-2.0

// Package docs checks the pages of the repository as a whole: that the targets of links, and of mentions in code,
// exist, that each guide begins with its result and its time, that the specification has each field and reason of the API,
// that no page applies an installation without an image, that no page exceeds its budget of words, and that phrases which make
// a reader look for their noun become fewer.
// Otherwise, it must not know the content of a page: the package that an example uses tests the example.
package docs
