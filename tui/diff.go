package tui

import "unicode/utf8"

// A small difference: what is between the beginning and the end that two values share.

// contextBytes is how much of the shared beginning and end is shown around a difference.
const contextBytes = 12

// difference returns the differing parts of before and after with a little of what surrounds them, at most limit bytes
// each, and nil twice when they are equal. Where something was left out, at an end or because of limit, "…" stands.
func difference(before, after []byte, limit int) (a, b []byte) {
	limit = max(limit, 8)
	n := min(len(before), len(after))
	head := 0
	for head < n && before[head] == after[head] {
		head++
	}
	if head == len(before) && head == len(after) {
		return nil, nil
	}
	tail := 0
	for tail < n-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	from := runeStart(before, max(0, head-contextBytes))
	return excerpt(before, from, len(before)-tail, limit), excerpt(after, from, len(after)-tail, limit)
}

// excerpt returns b from the rune at from to a little behind end.
func excerpt(b []byte, from, end, limit int) []byte {
	end = min(len(b), end+contextBytes)
	for end < len(b) && !utf8.RuneStart(b[end]) {
		end++
	}
	if end-from > limit {
		end = runeStart(b, from+limit)
	}
	var out []byte
	if from > 0 {
		out = append(out, "…"...)
	}
	out = append(out, b[from:max(from, end)]...)
	if end < len(b) {
		out = append(out, "…"...)
	}
	if len(b) == 0 {
		return []byte("(nothing)")
	}
	return out
}

// runeStart returns the beginning of the rune that holds place i.
func runeStart(b []byte, i int) int {
	for k := 0; i > 0 && k < utf8.UTFMax && !utf8.RuneStart(b[i]); k++ {
		i--
	}
	return i
}
