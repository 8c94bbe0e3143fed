// Package v8 has the tests of version 8 of the client: those of version 9 with its names in place of the other's, which
// `cargo xtask clients` puts here as it runs them.
package v8
