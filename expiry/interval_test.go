package expiry

import (
	"testing"
	"time"
)

func TestAnAbsentIntervalIsNotZero(t *testing.T) {
	if None() == Seconds(0) || None() == NotKnown() || Seconds(0) == NotKnown() {
		t.Fatal("the three cases are mixed up")
	}
	if n, ok := None().Seconds(); ok || n != 0 {
		t.Fatalf("an absent interval has %d seconds", n)
	}
	if n, ok := Seconds(0).Seconds(); !ok || n != 0 {
		t.Fatalf("an interval of zero is not there: %d", n)
	}
	var zero Interval
	if zero != NotKnown() || zero.Kind() != Unknown {
		t.Fatal("the zero value claims to know something")
	}
}

func TestAnIntervalSaysWhatItIs(t *testing.T) {
	for _, c := range []struct {
		i          Interval
		text, kind string
	}{
		{NotKnown(), "unknown", "unknown"},
		{None(), "never", "absent"},
		{Seconds(0), "0s", "finite"},
		{Seconds(4294967295), "4294967295s", "finite"},
	} {
		if c.i.String() != c.text || c.i.Kind().String() != c.kind {
			t.Errorf("%v is %q of kind %q, want %q of kind %q", c.i, c.i.String(), c.i.Kind(), c.text, c.kind)
		}
	}
}

func TestRemainingAndDeadlineCountFromTheReceipt(t *testing.T) {
	for _, c := range []struct {
		name     string
		i        Interval
		now      int64
		left     time.Duration
		deadline int64
		ok       bool
	}{
		{"at the receipt all of it is left", Seconds(10), 5000, 10 * time.Second, 15000, true},
		{"it falls by the millisecond", Seconds(10), 5001, 9999 * time.Millisecond, 15000, true},
		{"at the deadline nothing is left", Seconds(10), 15000, 0, 15000, true},
		{"after it the rest is negative", Seconds(10), 16000, -time.Second, 15000, true},
		{"a clock that went back leaves more", Seconds(10), 4000, 11 * time.Second, 15000, true},
		{"the largest interval does not overflow", Seconds(4294967295), 5000, 4294967295 * time.Second, 4294967300000, true},
		{"an absent one has nothing to count", None(), 5000, 0, 0, false},
		{"an unknown one has nothing to count", NotKnown(), 5000, 0, 0, false},
	} {
		left, ok := c.i.Remaining(5000, c.now)
		deadline, ok2 := c.i.Deadline(5000)
		if left != c.left || deadline != c.deadline || ok != c.ok || ok2 != c.ok {
			t.Errorf("%s: left %v %v, deadline %v %v", c.name, left, ok, deadline, ok2)
		}
	}
}

func FuzzInterval(f *testing.F) {
	f.Add(uint32(0), int64(0), int64(0), byte(0))
	f.Add(uint32(86400), int64(1_790_000_000_000), int64(1_790_000_043_200), byte(1))
	f.Add(uint32(4294967295), int64(-5), int64(1<<53), byte(2))
	f.Fuzz(func(t *testing.T, seconds uint32, received, now int64, kind byte) {
		const far = 1 << 53
		if received < -far || received > far || now < -far || now > far {
			return
		}
		i := []Interval{NotKnown(), None(), Seconds(seconds)}[kind%3]
		left, counts := i.Remaining(received, now)
		end, ends := i.Deadline(received)
		if counts != ends || counts != (i.Kind() == Finite) {
			t.Fatalf("%v counts %v and ends %v", i, counts, ends)
		}
		// The duration of an int64 of nanoseconds ends at 292 years.
		if counts && now-received < 200*365*86400*1000 && received-now < 100*365*86400*1000 && left.Milliseconds() != end-now {
			t.Fatalf("%v received %d has %v left at %d and ends at %d", i, received, left, now, end)
		}
		standing := At(i, History{}, received, now)
		if (standing == Due) != (counts && end <= now) {
			t.Fatalf("%v received %d is %v at %d, ends at %d", i, received, standing, now, end)
		}
	})
}
