package actions

import "fmt"

// Counted returns a number with its noun, which takes an s unless it is one.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
