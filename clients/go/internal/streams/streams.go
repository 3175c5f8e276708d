// Package streams has what the conformance program changes of streams.
package streams

import "time"

// LongestSilence of a stream: the service sends something every 15 s, so that one that is silent for longer is dead.
var LongestSilence = 40 * time.Second
