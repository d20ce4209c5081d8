package inventory

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// maxLevels is how many levels a tree has at most: what follows the last one is one level, slashes and all, so that a
// topic of 65 535 slashes is not 65 536 nodes. Brokers were seen to refuse more than about 200 levels.
const maxLevels = 256

// levelEnd returns where the level of topic that begins at start ends; depth is the number of that level, 0 the first.
func levelEnd(topic []byte, start, depth int) int {
	if depth >= maxLevels-1 {
		return len(topic)
	}
	if i := bytes.IndexByte(topic[start:], '/'); i >= 0 {
		return start + i
	}
	return len(topic)
}

// levelsOf returns the number of levels of topic.
func levelsOf(topic []byte) int { return min(bytes.Count(topic, []byte{'/'})+1, maxLevels) }

// prefixOf returns the first n levels of topic; n is at least 1.
func prefixOf(topic []byte, n int) []byte {
	end := -1
	for d := range n {
		end = levelEnd(topic, end+1, d)
		if end == len(topic) {
			break
		}
	}
	return topic[:end]
}

// lastLevel returns the last level of a path of n levels.
func lastLevel(path []byte, n int) []byte {
	start := 0
	for d := range n - 1 {
		start = levelEnd(path, start, d) + 1
	}
	return path[start:]
}

// commonLevels returns how many whole levels a and b share from the first on.
func commonLevels(a, b []byte) int {
	start := 0
	for d := 0; ; d++ {
		ea, eb := levelEnd(a, start, d), levelEnd(b, start, d)
		if ea != eb || !bytes.Equal(a[start:ea], b[start:eb]) {
			return d
		}
		if ea == len(a) || eb == len(b) {
			return d + 1
		}
		start = ea + 1
	}
}

// under reports whether topic is path or lies below it. A path is a topic or its first levels.
func under(topic, path []byte) bool {
	return bytes.HasPrefix(topic, path) && (len(topic) == len(path) || topic[len(path)] == '/')
}

// compareTopics orders topics level by level, and levels by their bytes: as a tree with everything open shows them. It
// is the order of the bytes with the slash in front of all others.
func compareTopics(a, b []byte) int {
	if i := sharedBytes(a, b); i < min(len(a), len(b)) {
		return int(slashFirst[a[i]]) - int(slashFirst[b[i]])
	}
	return len(a) - len(b)
}

// sharedBytes returns how many bytes a and b have in common from the first on.
func sharedBytes(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// slashFirst gives every byte its rank in the order of topics.
var slashFirst = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if i < '/' {
			t[i]++
		}
	}
	t['/'] = 0
	return t
}()
