// Package tui is the screen: what the inventory holds, drawn for a person at a terminal, and the keys that move in it.
//
// It draws and asks; it never sees a packet. Not allowed in here: package broker, network, files other than an export.
package tui
