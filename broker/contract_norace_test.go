//go:build !race

package broker

const contractUnderRace = false
