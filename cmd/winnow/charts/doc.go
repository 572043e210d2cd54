// SPDX-License-Identifier: Apache-2.0

// Package charts finds the charts of selected applications, with the values that they are installed with, before and behind
// the mirrors, and renders them. It must not know what is looked for in them, nor how charts are fetched and rendered.
package charts
