// SPDX-License-Identifier: Apache-2.0

// Package pages makes the files of a web site of a model: HTML by html/template, a style, a script and the logos. All texts of
// the model are hostile, so that none of them is ever a template.HTML, a URL of another scheme than HTTP, or a file name. It
// must not know how the model was made.
package pages
