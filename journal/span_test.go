package journal

import "testing"

func TestASpanCoversWhatItsFiltersMatch(t *testing.T) {
	for _, c := range []struct {
		filter, topic string
		want          bool
	}{
		{"#", "a/b", true}, {"#", "", true}, {"#", "$SYS/uptime", false}, {"$SYS/#", "$SYS/uptime", true}, {"+/b", "$SYS/b", false},
		{"a/#", "a", true}, {"a/#", "a/b/c", true}, {"a/#", "ab", false}, {"a/+", "a/b", true}, {"a/+", "a", false}, {"a/+", "a/", true},
		{"+/+", "a/b", true}, {"+", "a/b", false}, {"a/+/c", "a/b/c", true}, {"a/+/#", "a", false}, {"a/+/#", "a/b", true},
		{"a", "a", true}, {"a", "a/b", false}, {"/", "/", true}, {"/+", "/x", true}, {"+/", "x/", true}, {"a//b", "a//b", true}, {"a/+/b", "a//b", true},
	} {
		if got := (Span{Filters: []string{"no/such", c.filter}}).Covers([]byte(c.topic)); got != c.want {
			t.Errorf("%q covers %q: %v", c.filter, c.topic, got)
		}
	}
}

func TestNotSeenLiveIsAlwaysSaidWithTheWatchingItStandsOn(t *testing.T) {
	const days = 24 * hour
	all := []string{"#"}
	for _, c := range []struct {
		name  string
		r     Record
		spans []Span
		now   int64
		want  string
	}{
		{"thirteen days, two gaps", Record{FirstSeen: day},
			[]Span{{day, day + 5*days, all}, {day + 6*days, day + 10*days, all}, {day + 10*days + hour, day + 14*days + hour, all}}, day + 14*days + hour,
			"not seen live in 13 days of watching, with 2 gaps"},
		{"one span", Record{FirstSeen: day}, []Span{{day - days, day + 3*hour, all}}, day + 3*hour,
			"not seen live in 3 h of watching, without a gap"},
		{"seen live before", Record{FirstSeen: day, LastLive: day + hour}, []Span{{day, day + 6*hour, all}}, day + 6*hour,
			"not seen live since, in 5 h of watching, without a gap"},
		{"nobody watches now", Record{FirstSeen: day}, []Span{{day, day + 4*hour, all}}, day + 9*hour,
			"not seen live in 4 h of watching, with 1 gap"},
		{"only other topics were watched since", Record{Topic: []byte("a"), FirstSeen: day, LastLive: day + hour},
			[]Span{{day, day + hour, all}, {day + hour, day + 9*hour, []string{"b/#"}}}, day + 9*hour, "nobody was watching"},
		{"nobody ever watched", Record{FirstSeen: day}, nil, day + hour, "nobody was watching"},
		{"seen a moment ago", Record{FirstSeen: day, LastLive: day + 5}, []Span{{day, day + 5, all}}, day + 7, "watching has only begun"},
		{"spans that overlap count once", Record{FirstSeen: day}, []Span{{day, day + 3*hour, all}, {day + 2*hour, day + 4*hour, all}}, day + 4*hour,
			"not seen live in 4 h of watching, without a gap"},
		{"a span within another", Record{FirstSeen: day}, []Span{{day, day + 4*hour, all}, {day + hour, day + 2*hour, all}}, day + 4*hour,
			"not seen live in 4 h of watching, without a gap"},
		{"seconds", Record{FirstSeen: day}, []Span{{day, day + 90_000, all}}, day + 90_000, "not seen live in 90 s of watching, without a gap"},
		{"an idle writer is not a gap", Record{FirstSeen: day}, []Span{{day, day + 10*hour, all}}, day + 10*hour + 60_000,
			"not seen live in 10 h of watching, without a gap"},
	} {
		if got := c.r.Silence(c.spans, c.now).String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
