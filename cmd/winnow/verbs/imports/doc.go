// Package imports is winnow import: it makes a catalog of definitions, or instances of what runs. It must not replace a file.
package imports
