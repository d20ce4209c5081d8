//go:build race

package demo

// The embedded broker races inside itself: its tests do not run under the race detector.
const underRace = true
