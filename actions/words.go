package actions

import (
	"fmt"
	"slices"
)

// Counted returns a number with its noun, which takes an s unless it is one.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Nearest returns the word that was meant where another was written that differs from it in one or two letters, and
// false where there is none. Words of three letters or fewer are never taken for another.
func Nearest(words []string, wrong string) (string, bool) {
	if len(wrong) > 3 {
		for _, w := range words {
			if distance(w, wrong) <= 2 {
				return w, true
			}
		}
	}
	return "", false
}

// meant proposes a word behind what is wrong with another; "" where none is near.
func meant(words []string, wrong string) string {
	slices.Sort(words)
	if w, ok := Nearest(words, wrong); ok {
		return "; is " + w + " meant?"
	}
	return ""
}

// distance counts the letters to change, add or remove between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
