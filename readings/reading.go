package readings

// What the room says about one topic.
// Values only: how they are found is judge.go, how they are worded is reason.go.

// State is what a retained store can say about an owner. The zero value is Unknown.
type State uint8

const (
	// Unknown means that nothing retained says it, or that what says it cannot be read here.
	Unknown State = iota
	// Alive means that the owner's liveness topic holds its online value. It proves only that nobody has published
	// offline since.
	Alive
	// Offline means that the owner's liveness topic holds its offline value. The owner may come back.
	Offline
)

// String returns "unknown", "online" or "offline".
func (s State) String() string {
	switch s {
	case Alive:
		return "online"
	case Offline:
		return "offline"
	default:
		return "unknown"
	}
}

// Owner is a guess at who publishes a topic.
type Owner struct {
	// Name is the owner's name as the topics give it; empty when nobody is known. Bytes from the wire.
	Name string
	// Convention is the way of publishing that was recognised, such as "zigbee2mqtt"; empty when none was.
	Convention string
	// Rule says in words what decided. It may quote bytes from the wire.
	Rule string
}

// Liveness is whether the owner is alive, and how that is known.
type Liveness struct {
	State  State
	Source string // the topic that says so, empty when there is none
	Value  string // what it holds, as far as it was kept
	Note   string // what this proves and what not; a sentence
}

// Role is what a topic is for its owner. The zero value is RoleOther.
type Role uint8

// The roles, in the order in which a group shows them.
const (
	RoleOther Role = iota
	RoleConfig
	RoleAnnouncement
	RoleState
	RoleAvailability
	RoleLiveness
	RoleAttribute
	RoleCommand
)

var roleNames = [...]string{"other", "config", "announcement", "state", "availability", "liveness", "attribute", "command"}

// String returns the role in lower case.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return roleNames[0]
}

// Strength is how much a finding says. Greater is more.
type Strength uint8

const (
	// Weak is often legitimate.
	Weak Strength = iota
	// Medium is probable, and may change by itself.
	Medium
	// Strong is hard to explain otherwise.
	Strong
	// Hazard does something by itself: a retained command is executed at every reconnect.
	Hazard
)

var strengthNames = [...]string{"weak", "medium", "strong", "hazard"}

// String returns the strength in lower case.
func (s Strength) String() string {
	if int(s) < len(strengthNames) {
		return strengthNames[s]
	}
	return strengthNames[0]
}

// Finding is one thing that was noticed about a topic.
type Finding struct {
	Kind     Kind
	Strength Strength
	Reason   string // one sentence; may quote bytes from the wire
}

// ReferenceKind is how one topic names another.
type ReferenceKind uint8

// The ways in which a topic names another.
const (
	RefReads        ReferenceKind = iota + 1 // read as state or attributes
	RefWrites                                // published to by the reader, as a command
	RefAvailability                          // read as availability
	RefLiveness                              // its owner's liveness is read there
)

// String returns "reads", "writes", "availability" or "liveness".
func (k ReferenceKind) String() string {
	switch k {
	case RefReads:
		return "reads"
	case RefWrites:
		return "writes"
	case RefAvailability:
		return "availability"
	case RefLiveness:
		return "liveness"
	default:
		return "names"
	}
}

// Reference is one topic that names, or is named by, another.
type Reference struct {
	Topic    string
	Kind     ReferenceKind
	Retained bool // whether there is a retained message on Topic
}

// Reading is all that is known about one retained topic. It is a copy and safe to keep.
type Reading struct {
	Owner    Owner
	Device   string // the owner's device this belongs to, empty for the owner itself or when unknown
	Role     Role
	Liveness Liveness
	// Refs are the topics this one names, RefBy those that name it, each in topic order and at most MaxReferences;
	// RefsTotal and RefByTotal count all of them.
	Refs, RefBy           []Reference
	RefsTotal, RefByTotal int
	Findings              []Finding // strongest first
	Left                  bool      // looks left behind; never set for a topic that a living owner still means
	// Spared says in one sentence why it is not called left behind although a finding speaks against it: a topic was seen
	// live, which one, and when. It is empty where that is not so, and may quote bytes from the wire.
	Spared  string
	Hazard  bool
	Ignored bool   // a user's rule says to say nothing
	Phrase  string // one short phrase for a column
}

// MaxReferences is how many references a Reading lists in each direction.
const MaxReferences = 100
