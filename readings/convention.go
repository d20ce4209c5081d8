package readings

// What a convention is: one known way of publishing, each in a file of its own and named once in conventions below.
// A convention keeps nothing; it reads topics, payloads and what the reader has indexed.

// convention is one way of publishing.
type convention struct {
	name string
	// signs reports what a retained topic says about an owner: where its topics lie, where its liveness is read, which
	// devices it names. Called when a payload came or changed; must be quick to say nothing.
	signs func(t topicName, payload []byte, cut bool, say func(sign))
	// identifier is how the identifiers of this program's devices begin. Optional.
	identifier string
	// hint reports the area that a discovery config betrays as this program's. Optional.
	hint func(d *discovery) (area string, ok bool)
	// whole reports that the payload of a topic is of use only when all of it is kept: lists and descriptions. Optional.
	whole func(t topicName) bool
	// place says what the topic is inside an area this convention has a sign for; false when the area is not of this
	// convention after all, or the topic not of the area. The rest is the topic below the area, empty for the area's
	// own topic.
	place func(a *area, topic, rest string) (place, bool)
	// stray claims a topic by its shape alone, where no area did. Optional.
	stray func(r *Reader, topic string) (claim, bool)
}

// conventions lists all of them; the first that accepts a topic has it. To add one, write its file and name it here.
func conventions() []convention {
	return []convention{
		homeAssistant(),
		cosalette(),
		zigbee2mqtt(),
		tasmota(),
		esphome(),
		valetudo(),
		homie(),
		sparkplug(),
		zwaveJS(),
		frigate(),
		shelly(),
		rtl433(),
		statestream(),
	}
}

// Whole reports that a payload on the topic can be read only when all of it is there, such as a discovery config or a
// gateway's list of its devices: who keeps payloads for a Reader should not cut these short.
func Whole(topic []byte) bool {
	return anyWhole(conventions(), nameOf(string(topic)))
}

func anyWhole(convs []convention, t topicName) bool {
	for i := range convs {
		if convs[i].whole != nil && convs[i].whole(t) {
			return true
		}
	}
	return false
}

// topicName is a topic with its last level cut off once for all conventions.
type topicName struct {
	full, above, leaf string
}

func nameOf(topic string) topicName {
	above, leaf := lastLevel(topic)
	return topicName{full: topic, above: above, leaf: leaf}
}

// sign is what one topic says about an owner.
type sign struct {
	area    string   // the topic, or prefix of topics, spoken for; empty when only live is meant
	name    string   // the owner's name; empty = the area
	role    Role     // of the topics in this area, where all have one
	live    string   // the topic on which the owner's liveness is read; empty when the sign gives none
	rule    rule     // how it is read
	names   []string // what the owner names, when list is set
	list    bool     // names is the owner's own and whole list
	key     string   // an identity, such as a MAC: no two living sources have the same one
	version string   // of the program that spoke
	mark    string   // a feature seen in the area; counted, nothing else
	scope   string   // the prefix of topics whose reading depends on that mark
	guess   bool     // the area counts only when a discovery config hints at it
	root    bool     // live is that of a root: when it ends, this ends
}

// place is what a topic is inside its owner's area.
type place struct {
	device string // empty for the owner itself
	role   Role
	named  answer // whether the owner's own list names the device
	live   string // the device's own availability topic, if it has one
	rule   *rule  // how that is read
	// own is set for what only one device says and its owner's liveness does not cover, such as a transmitter that
	// a receiver announced.
	own bool
	// partial is set where the device lacks what the owner publishes for each of its devices.
	partial bool
	// orphan is set where the device's own description is gone.
	orphan bool
	// unsure is set where the owner's list may not be all of it.
	unsure bool
	// stamped is set where everything a living owner publishes carries an expiry once its liveness topic does.
	stamped bool
	// hazard is set where the convention says that the topic must not be retained.
	hazard Kind
}

// answer is yes, no, or not known. The zero value is notKnown.
type answer uint8

const (
	notKnown answer = iota
	yes
	no
)

// area is what the reader knows about an area of one convention, at the moment of asking.
type area struct {
	r     *Reader
	conv  uint8
	node  uint32
	first uint32 // a sign of the convention on the node
	name  string
	// What the signs of the convention say together.
	list, guess bool
}

// each calls f for the signs of the area, in no order, until it returns false.
func (a *area) each(f func(*said) bool) {
	for i := a.first; i != 0; i = a.r.says[i].next {
		if !f(&a.r.says[i]) {
			return
		}
	}
}

// named reports whether the owner's own list has the name. A list of names that is not whole can only say yes.
func (a *area) named(name string) answer {
	found, list := false, false
	a.each(func(s *said) bool {
		_, here := s.names[name]
		found, list = found || here, list || s.list
		return !found
	})
	switch {
	case found:
		return yes
	case list:
		return no
	default:
		return notKnown
	}
}

// marked returns how many topics showed the feature in the area.
func (a *area) marked(mark string) int { return a.r.marked(a.conv, a.name, mark) }

// hinted reports whether a discovery config said that the area is of this convention.
func (a *area) hinted() bool { return a.r.marked(a.conv, a.name, hintMark) > 0 }

// below returns the topic below the area.
func below(areaName, topic string) string {
	if len(topic) <= len(areaName) {
		return ""
	}
	return topic[len(areaName)+1:]
}

const hintMark = "hint"
