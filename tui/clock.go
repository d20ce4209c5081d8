package tui

import (
	"strconv"
	"time"
)

// Spans, instants and sizes in few cells, each with the instant at which its text would change, so that the screen
// wakes up for that and not before.

// forever is later than any instant a frame can ask to be drawn again at.
const forever = time.Duration(1<<63 - 1)

// countdown returns what is left as hh:mm:ss, from a day on as days and hh:mm, from a thousand days on as days, and how
// long that text holds. Parts of a second are dropped first, so that all countdowns of a frame change together.
func countdown(left time.Duration) (string, time.Duration) {
	secs := int64(max(left, 0) / time.Second)
	var b [24]byte
	s := b[:0]
	switch days := secs / 86400; {
	case days >= 1000:
		s = strconv.AppendInt(s, days, 10)
		return string(append(s, 'd')), time.Duration(secs%86400+1) * time.Second
	case days >= 1:
		s = strconv.AppendInt(s, days, 10)
		s = append(s, 'd', ' ')
		s = two(s, secs/3600%24)
		s = append(s, ':')
		return string(two(s, secs/60%60)), time.Duration(secs%60+1) * time.Second
	}
	s = two(s, secs/3600)
	s = append(s, ':')
	s = two(s, secs/60%60)
	s = append(s, ':')
	return string(two(s, secs%60)), time.Second
}

func two(b []byte, n int64) []byte { return append(b, byte('0'+n/10%10), byte('0'+n%10)) }

// span returns d in its largest whole unit, such as 12s, 4m, 5h, 3d, and how long that text holds while d grows.
func span(d time.Duration) (string, time.Duration) {
	d = max(d, 0).Truncate(time.Second)
	unit, name := 24*time.Hour, "d"
	switch {
	case d < time.Minute:
		unit, name = time.Second, "s"
	case d < time.Hour:
		unit, name = time.Minute, "m"
	case d < 48*time.Hour:
		unit, name = time.Hour, "h"
	}
	return strconv.FormatInt(int64(d/unit), 10) + name, unit - d%unit
}

// SeenLive returns what the column of that name says: how long ago a topic was seen live, or, where it was not, for how
// long somebody watched; "not known" where nobody did.
func SeenLive(ago time.Duration, seen bool, watched time.Duration) string {
	text, _ := span(ago)
	switch {
	case seen && ago < time.Second:
		return "now"
	case seen:
		return text + " ago"
	case watched <= 0:
		return "not known"
	}
	text, _ = span(watched)
	return "not in " + text
}

// about returns d rounded by less than one part in a hundred, such as 8h for 7h 59m 55s.
func about(d time.Duration) string {
	for _, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if d >= 100*unit {
			return exact(d.Round(unit))
		}
	}
	return exact(d)
}

// exact returns d in words without loss below a second, such as 8h, 28330s as 7h 52m 10s.
func exact(d time.Duration) string {
	secs := int64(d / time.Second)
	s := ""
	for _, u := range []struct {
		n    int64
		name string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if secs >= u.n {
			if s != "" {
				s += " "
			}
			s += strconv.FormatInt(secs/u.n, 10) + u.name
			secs %= u.n
		}
	}
	if s == "" {
		return "0s"
	}
	return s
}

// instant returns t as a clock time, with its date where that is not the day of now.
func instant(t, now time.Time) string {
	if t.IsZero() {
		return "?"
	}
	t = t.In(now.Location())
	if y, m, d := t.Date(); y != now.Year() || m != now.Month() || d != now.Day() {
		if y != now.Year() {
			return t.Format("2 Jan 2006 15:04")
		}
		return t.Format("2 Jan 15:04:05")
	}
	return t.Format("15:04:05")
}

// millis is instant for Unix milliseconds.
func millis(ms int64, now time.Time) string {
	if ms == 0 {
		return "?"
	}
	return instant(time.UnixMilli(ms), now)
}

// size returns n bytes in at most seven cells: 999 B, 1.2 kB, 20 kB, 5.0 MB.
func size(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	unit := int64(1000)
	for _, name := range []string{" kB", " MB", " GB", " TB"} {
		if n < unit*9950/1000 {
			tenths := (n*10 + unit/2) / unit
			return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + name
		}
		if n < unit*999500/1000 || name == " TB" {
			return strconv.FormatInt((n+unit/2)/unit, 10) + name
		}
		unit *= 1000
	}
	return ""
}
