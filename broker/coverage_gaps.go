package broker

// Why something is not there, and what a person can do about it: the sentences under a claim.
// Every difference is explained or called unexplained.

import (
	"fmt"
	"time"

	"retainscope/inventory"
)

// gaps explains every difference and every possible one.
func (e *evidence) gaps(claim inventory.Claim) (gaps []inventory.Gap) {
	add := func(n int64, format string, args ...any) {
		gaps = append(gaps, inventory.Gap{Count: n, Text: fmt.Sprintf(format, args...)})
	}
	for _, g := range e.refused() {
		add(-1, "Refused: %s.", refusal(g))
	}
	for _, g := range e.unseen {
		add(-1, "Changes are not seen live: %s.", refusal(g))
	}
	if claim == inventory.Verified && e.agrees() {
		return gaps // whatever was lost on the way is here now
	}
	if n := e.known() - e.held; e.known() >= 0 && n > 0 {
		others := "hidden from this login by permissions, expired and not yet collected by the broker, or under names that begin with $"
		switch {
		case e.nothingDropped():
			add(n, "Nothing was dropped; what it counts and did not send is %s.", others)
		case e.ended != "":
			add(n, "The broker counts %d more than had come when the scan ended early: %s.", n, e.ended)
		case claim == inventory.Incomplete:
			add(n, "The broker counts %s more than came: dropped by its queue for this client, %s. Which of them is unexplained.", grouped(n), others)
		default:
			add(n, "The broker's count, older than the scan, is %s higher: %s, or cleared since; if none of these, unexplained.", grouped(n), others)
		}
	}
	if n := e.known(); n >= 0 && n < e.held {
		add(-1, "The broker's count of %s is lower than the %s that came: it is older than the scan, or copies expired since.", grouped(n), grouped(e.held))
	}
	switch n, moved := e.now.dropsSince(e.before); {
	case moved && n > 0:
		add(n, "The broker dropped %s messages for some client since the scan began; it does not say for which.", grouped(n))
	case moved:
		add(-1, "The broker dropped messages for some client since the scan began; it does not say how many or for which.")
	}
	if e.pings > 0 {
		add(-1, "The broker left %d of our pings unanswered: its queue for this client was full.", e.pings)
	}
	if e.stalls > 0 {
		add(-1, "Our own read-ahead was full %s, %s in all: what the broker could not send meanwhile it may have dropped.", times(e.stalls), roundTime(e.stalled))
	}
	if e.discards > 0 {
		add(e.discards, "This program dropped %s publications itself.", grouped(e.discards))
	}
	if e.recovered > 0 {
		add(e.recovered, "The scan did not bring %s topics that were held before and that exact filters still brought: it lost some.", grouped(e.recovered))
	}
	if e.unsure > 0 {
		add(e.unsure, "Of %s topics held before and not brought by the scan the broker could not be asked; they are kept and marked.", grouped(e.unsure))
	}
	gaps = append(gaps, e.slices.gaps(claim)...)
	if claim == inventory.Incomplete && len(gaps) == 0 {
		add(-1, "How much is missing is not known.")
	}
	return gaps
}

// remedies says what a person can do about a list that is not complete.
func (e *evidence) remedies(claim inventory.Claim) (out []string) {
	if claim != inventory.Incomplete && claim != inventory.Unverified {
		return nil
	}
	if len(e.refused()) > 0 {
		return []string{"Name the filters that this login may read, each with --filter, or use a login that may read more."}
	}
	if e.ended != "" {
		return []string{"Scan again."}
	}
	if e.copies == 0 && e.slices.found == 0 {
		return []string{
			"Name a topic that should be there with --filter: an exact name tells whether this login may read it.",
			"Use a login that may read more.",
		}
	}
	_, moved := e.now.dropsSince(e.before)
	if moved || e.pings > 0 || !e.small() || e.stalls > 0 || e.slices.found > 0 {
		out = append(out,
			"Ask for less at a time with --filter: below about "+map[bool]string{false: "4 MB", true: "0.1 MB"}[e.unix]+" or 900 topics a broker was never seen to lose any.",
			"Set max_queued_messages 0 in mosquitto.conf: then nothing is dropped, and a slow reader costs the broker memory instead.",
			"On the broker's host the file mosquitto.db holds the whole store (where persistence is on).")
	}
	if e.unix && !e.small() {
		out = append(out, "Connect over TCP (mqtt://localhost): its buffers grow, and those of a unix socket do not.")
	}
	if e.known() > e.held {
		out = append(out, "Use a login that may read everything, to see whether permissions explain the difference.")
	}
	if e.known() < 0 && e.whole() && (e.now.count < 0 || e.now.own < 0) {
		out = append(out, "Let this login read $SYS/#: then the broker's own count is compared.")
	}
	return out
}

// refusal names a refused filter and its code.
func refusal(g inventory.Grant) string {
	return fmt.Sprintf("\"%s\": %s", plain(g.Filter), reasonText(g.Code))
}

func bytesText(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
}

// roundTime returns d in a form for a sentence: "2s", "1m30s", "250ms".
func roundTime(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}
