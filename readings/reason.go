package readings

// The sentences: why a finding is one, whose a topic is and how that is known.
// Bytes from the wire go in as they are; whoever shows them escapes them.

import (
	"fmt"
	"time"
	"unicode/utf8"

	"retainscope/expiry"
)

// topicText returns a topic for a sentence, cut where it is long.
func (r *Reader) topicText(id uint32) string {
	const limit = 120
	s := r.name(id)
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

// owner words whose a topic is.
func (r *Reader) owner(v *verdict) Owner {
	c := &v.claim
	o := Owner{Name: c.owner, Convention: c.convention}
	switch c.rule {
	case ruleUser:
		o.Rule = fmt.Sprintf("rule %d of the configuration", c.by+1)
	case ruleArea:
		o.Rule = "it lies where " + r.topicText(c.by) + " speaks for the owner"
		if v.config != nil {
			o.Rule = "it names topics for which " + r.topicText(c.by) + " speaks"
		}
	case ruleShape:
		o.Rule = "the shape of the topic"
	case ruleOrigin:
		o.Rule = "the origin in the discovery config"
		if v.config == nil && c.by != 0 {
			o.Rule = "the origin in " + r.topicText(c.by) + ", which names it"
		}
	case ruleIdentifier:
		o.Rule = "the device identifiers in the discovery config"
	case ruleDevice:
		o.Rule = "the same device is announced in " + r.topicText(c.by)
	case ruleAnnounced:
		o.Rule = "the device that the discovery config announces"
		if v.config == nil && c.by != 0 {
			o.Rule = "the device that " + r.topicText(c.by) + " announces, which names it"
		}
	case ruleWaits:
		o.Rule = "only the topic that the discovery config waits for: " + r.topicText(c.live)
	case ruleObject:
		o.Rule = "only the name of the discovery config"
		if v.config == nil && c.by != 0 {
			o.Rule = "only the name of " + r.topicText(c.by) + ", which names it"
		}
	case ruleSeveral:
		o.Rule = "configs of several devices name it, " + r.topicText(c.by) + " among them"
	case ruleFirstLevel:
		o.Rule = "nothing says whose it is; a level that topics share is no owner"
	}
	return o
}

// livenessOf words what is known about the owner's life.
func (r *Reader) livenessOf(v *verdict) Liveness {
	c := &v.claim
	l := Liveness{State: c.state}
	if c.live != 0 {
		l.Source = r.name(c.live)
		if h := r.heldAt(c.live); h != nil {
			l.Value = h.value.shown()
		}
	}
	age := "how old that is, is not on the wire"
	if c.live != 0 && r.nodes[c.live].heard != 0 {
		age = "it was seen live " + ago(r.now-int64(r.nodes[c.live].heard)*1000)
	}
	switch {
	case c.state == Alive:
		l.Note = "a retained online value proves only that nobody has published offline since; " + age
	case c.state == Offline:
		l.Note = "the owner said offline, or its last will did; it may come back; " + age
	case v.config != nil && v.unread:
		l.Note = "the config is too large to be read here, so what it waits for is not known"
	case c.live == 0:
		l.Note = "no topic says whether the owner lives"
	case c.place.own:
		l.Note = "its receiver says so, which says nothing about what it received"
	case r.nodes[c.live].held == 0:
		l.Note = "its liveness topic is not retained"
	case v.claim.place.role == RoleAnnouncement && c.convention != "":
		l.Note = "what is retained there may be another one's"
	default:
		l.Note = "what is retained there is neither its online nor its offline value, or cannot be read here"
	}
	return l
}

func ago(ms int64) string { return span(ms) + " ago" }

func span(ms int64) string {
	d := time.Duration(max(ms, 0)) * time.Millisecond
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	default:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
}

// watched words how long somebody has been watching.
func (r *Reader) watched(now int64) string {
	if r.since == 0 {
		return "nobody has been watching yet"
	}
	return "watched for " + span(now-r.since)
}

// reason words one finding.
func (r *Reader) reason(v *verdict, n noted, h *held, now int64) string {
	c := &v.claim
	other := ""
	if n.other != 0 {
		other = r.topicText(n.other)
	}
	from := func(s string) string {
		if other == "" {
			return s
		}
		return s + " " + other
	}
	switch n.kind {
	case Dangling:
		if n.strength == Weak {
			if v.view.unseen {
				return "nothing that this config reads was seen; not all of it would have been seen here, by the filters or because the scan is not whole"
			}
			return "nothing that this config reads is retained; that is normal where states are not retained"
		}
		s := "nothing that this config reads or waits for is retained, and nothing was heard on it (" + r.watched(now) +
			"); states that are not retained look the same until they speak"
		if v.left != Dangling {
			s += ", so it looks left behind only after " + span(1000*v.config.patience()) + " of watching"
		}
		return s
	case NeverAvailable:
		return "the config wants all of its availability topics and " + other + " is not retained: the entity stays unavailable"
	case OwnerOffline:
		text := from("the owner is offline:") + r.holds(n.other) + "; it may come back"
		if h.flags&(heldNever|heldFinite) == 0 {
			text += ", and whether this expires by itself cannot be told here"
		}
		return text
	case DeviceOffline:
		return from("the device is offline while its owner is not:") + r.holds(n.other)
	case Unreferenced:
		return "discovery configs name topics beside it, and none names this one"
	case DuplicateID:
		if v.left == DuplicateID {
			return "the device form in " + other + " announces the same unique id of the same device: this is what it replaced"
		}
		if n.other != 0 && v.config != nil && n.other == v.config.node {
			return "two of its components have the same unique id: Home Assistant takes only one"
		}
		return "the same unique id is in " + orText(other, "many other configs") + ": Home Assistant refuses the second one"
	case Renamed:
		switch n.strength {
		case Strong:
			return other + " announces the same device and component under other topics" + r.renameProof(v)
		case Medium:
			return other + " announces the same device and component under other topics" + r.renameProof(v) +
				"; what this one waits for does not say offline, so it may be a second instance that lives"
		}
		return other + " announces the same device and component under other topics: one of the two may be a name that was given up"
	case IllegalTopic:
		return "Home Assistant ignores this discovery topic: node and object may hold only letters, digits, _ and -"
	case InvalidJSON:
		return "the payload is not JSON that Home Assistant reads; the broker keeps it"
	case Marker:
		return "a migration marker is meant to be cleared at once and was retained"
	case Command:
		if n.strength != Hazard {
			return "by its name commands go here, and one that is retained is executed again at every reconnect of whoever listens; whether anybody does is not known"
		}
		s := "a retained command is executed again at every reconnect of whoever listens"
		if other != "" {
			s += "; " + other + " names this as a command topic"
		}
		return s
	case Unnamed:
		s := fmt.Sprintf("%s does not name %q", orText(other, "its owner's own list"), r.deviceName(v))
		switch {
		case c.place.unsure:
			return s + "; its groups are not known, and this may be one"
		case c.state == Alive:
			return s + ", and the owner is online"
		}
		return s + "; the owner is not known to be online"
	case Sparkplug:
		return "Sparkplug births, deaths, data and commands must not be retained: this one is replayed to every new subscriber"
	case LooksEmpty:
		if h.size == 1 && c.convention == "Homie" {
			return "one byte: Homie writes an empty string so; it is a value, not a clear"
		}
		return fmt.Sprintf("%d bytes that look like nothing; a clear has none", h.size)
	case LookAlike:
		return "on a screen it looks like " + orText(other, "many others") + ", which is another topic"
	case Invisible:
		return "the topic has characters that are not seen: read it as escaped bytes"
	case FellBack:
		return "it carried an expiry until a publisher without one overwrote it"
	case RefreshMissed:
		if h.standing(now) == expiry.MissedTwo {
			return "two refreshes are missing: less than a third of its window is left"
		}
		return "a refresh is missing: less than two thirds of its window are left"
	case StillServed:
		return "its expiry has passed and the broker still serves it"
	case Will:
		if h.flags&heldFinite != 0 {
			return "the owner's last word or last will; it expires by itself"
		}
		return "the owner's last word or last will, and it stays"
	case Unstamped:
		if c.place.stamped {
			return "everything its owner publishes now carries an expiry, as " + other + " does, and this does not: it was written before"
		}
		return "it has no expiry and " + other + " of the same owner has one"
	case Replaced:
		if n.strength == Strong {
			return other + " announces the same board under another name, and is the one that lives or the newer"
		}
		return other + " announces the same board or the same name; which of the two lives is not on the wire"
	case HalfCleared:
		return "an attribute tree below a device without $state: somebody cleared the device by hand and not what is below"
	case Incomplete:
		s := "its owner publishes the same set of topics for each device, and this one lacks at least two of them"
		if v.left != Incomplete {
			s += "; it looks left behind only when nothing of it was heard in " + span(1000*silence) + " of watching"
		}
		return s
	case Older:
		return other + " announces the same device, by a newer version of the same program or by one that says who it is"
	case TooLarge:
		if v.config == nil {
			return fmt.Sprintf("too large to read here: %d bytes, %d kept; what it names is not known, and nothing is called left behind for not being named (setting store.payload_per_document)", h.size, h.kept)
		}
		if h.kept == h.size {
			return fmt.Sprintf("config too large to read here: it names more than %d levels of topics and ids; what they are is not known, and no topic is called left behind for want of it", maxNamed)
		}
		return fmt.Sprintf("config too large to read here: %d bytes, %d kept; what it announces and names is not known, and no topic is called left behind for want of it (setting store.payload_per_document)", h.size, h.kept)
	case EmptyReplay:
		return "the broker replays it with an empty payload"
	default:
		return n.kind.String()
	}
}

// sparedText words why a topic is not called left behind; "" = nothing speaks against it, or it is.
func (r *Reader) sparedText(v *verdict, now int64) string {
	s := &v.spared
	if s.kind == NoFinding || v.left != NoFinding {
		return ""
	}
	heard := time.Unix(int64(r.nodes[s.by].heard), 0)
	return fmt.Sprintf("not called left behind (%s) for another %s: %s was published live %s, at %s", s.kind, span(s.until-now), r.topicText(s.by),
		ago(now-heard.UnixMilli()), heard.UTC().Format("2006-01-02 15:04:05Z"))
}

// renameProof words what tells which of two is the old one.
func (r *Reader) renameProof(v *verdict) string {
	if v.config == nil {
		return ""
	}
	switch r.proofOf(v.config).why {
	case Unnamed:
		return ", and the owner names only that one"
	case Unstamped:
		return ", and only that one carries an expiry"
	case Older:
		return ", and comes from a newer version"
	default:
		return ""
	}
}

func (r *Reader) holds(id uint32) string {
	if id == 0 {
		return ""
	}
	if h := r.heldAt(id); h != nil && h.value.shown() != "" {
		return fmt.Sprintf(" holds %q", h.value.shown())
	}
	return ""
}

func (r *Reader) deviceName(v *verdict) string {
	if d := v.claim.place.device; d != "" {
		return d
	}
	return v.claim.owner
}

func orText(s, or string) string {
	if s == "" {
		return or
	}
	return s
}
