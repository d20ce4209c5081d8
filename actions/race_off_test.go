//go:build !race

package actions

// raceDetector tells whether times mean anything.
const raceDetector = false
