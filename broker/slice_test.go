package broker

import (
	"fmt"
	"strings"
	"testing"
)

func TestASliceIsItsFilter(t *testing.T) {
	for _, f := range []string{"#", "a", "a/#", "+/+/x/#", "/", "//#", "a//+", "+"} {
		if got := parseSlice(f).filter(); got != f {
			t.Errorf("%q came back as %q", f, got)
		}
	}
}

func TestASliceMatchesAsABrokerDoes(t *testing.T) {
	for _, c := range []struct {
		filter, topic string
		want          bool
	}{
		{"#", "a/b", true}, {"#", "$SYS/x", false}, {"+/x", "$SYS/x", false}, {"$SYS/#", "$SYS/x", true},
		{"a/#", "a", true}, {"a/#", "ab", false}, {"a/+", "a/", true}, {"a/+", "a", false}, {"+", "/", false}, {"+/+", "/", true},
		{"+/b/#", "a/b", true}, {"+/b/#", "a/b/c/d", true}, {"+/b/#", "a/c", false},
	} {
		if got := parseSlice(c.filter).match(topicLevels(nil, []byte(c.topic))); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.filter, c.topic, got, c.want)
		}
	}
}

// surveyOf returns a survey of topics, in the order of their coming.
func surveyOf(topics ...string) *survey {
	v := &survey{}
	for i, topic := range topics {
		v.add([]byte(topic), 100, int64(i))
	}
	return v
}

func TestTheBestCutIsByNamesThatRepeat(t *testing.T) {
	// The first levels come one after the other, as a broker sends them: new ones keep coming. The last level's names all
	// came with the first of them.
	var topics []string
	for device := range 14 {
		for name := range 10 {
			topics = append(topics, fmt.Sprintf("load/%02d/name%d", device, name))
		}
	}
	cuts := surveyOf(topics...).cuts(parseSlice("#"))
	if len(cuts) == 0 || cuts[0].level != 2 {
		t.Fatalf("cuts: %+v", cuts)
	}
	filters := map[string]bool{}
	for _, p := range cuts[0].parts {
		filters[p.slice.filter()] = true
	}
	for _, want := range []string{"+", "+/+", "+/+/name0/#", "+/+/name9/#"} {
		if !filters[want] {
			t.Errorf("the cut lacks %q", want)
		}
	}
	if len(filters) != 12 {
		t.Errorf("%d parts", len(filters))
	}
}

func TestThePartsOfACutHoldEveryTopicSeenOnce(t *testing.T) {
	topics := []string{"a", "a/b", "a/b/c", "b/b/c", "b/b/c/d", "c//", "/c", "c/b"}
	v := surveyOf(topics...)
	for _, base := range []string{"#", "+/b/#", "a/#"} {
		for _, c := range v.cuts(parseSlice(base)) {
			for _, topic := range topics {
				levels := topicLevels(nil, []byte(topic))
				n := 0
				for _, p := range c.parts {
					if p.slice.match(levels) {
						n++
					}
				}
				if in := parseSlice(base).match(levels); in && n != 1 || !in && n != 0 {
					t.Errorf("%q cut at level %d: %q is in %d parts", base, c.level, topic, n)
				}
			}
		}
	}
}

func TestNamesThatNoFilterCanCarryAreCounted(t *testing.T) {
	c := surveyOf("a/x+y", "a/ok", "a/z#", "a/\xff").cuts(parseSlice("#"))
	if len(c) != 1 || c[0].skipped != 3 {
		t.Errorf("cuts: %+v", c)
	}
}

func TestASharedParentOfSingleTopicsIsFlat(t *testing.T) {
	var topics []string
	for i := range 50 {
		topics = append(topics, fmt.Sprintf("flat/%d", i))
	}
	cuts := surveyOf(topics...).cuts(parseSlice("#"))
	if len(cuts) != 1 || !cuts[0].flat() {
		t.Errorf("cuts: %+v", cuts)
	}
}

func FuzzASliceSplitsIntoFilters(f *testing.F) {
	f.Add("a/b/c", "a/+/#", 1)
	f.Add("//", "#", 0)
	f.Fuzz(func(t *testing.T, topic, filter string, level int) {
		if topic == "" || level < 0 || level > 8 || strings.ContainsAny(topic, "+#") {
			return
		}
		s := parseSlice(filter)
		levels := topicLevels(nil, []byte(topic))
		if !s.match(levels) || !s.open(level) {
			return
		}
		n := 0
		for _, p := range s.shorter(level) {
			if p.match(levels) {
				n++
			}
		}
		if len(levels) > level && s.at(level, string(levels[level])).match(levels) {
			n++
		}
		if n != 1 {
			t.Errorf("%q in %q divided at level %d is in %d parts", topic, filter, level, n)
		}
	})
}
