// Package show is winnow show: it prints all that catalogs and selections have about an application.
package show
