package readings

// The kinds of finding, with the names that filters use.
// A name never changes once it was published.

// Kind is a kind of finding.
type Kind uint8

// The kinds. The comment is what was noticed.
const (
	NoFinding      Kind = iota
	Dangling            // a discovery config, and nothing it reads is retained
	NeverAvailable      // a discovery config that wants all of its availability topics, and one is missing
	OwnerOffline        // the owner's liveness topic says offline
	DeviceOffline       // the device's availability says offline while its owner is not
	Unreferenced        // retained under a prefix that configs use, and no config names it
	DuplicateID         // two discovery configs of one platform with the same unique id
	Renamed             // another family of topics claims the same device with the same components
	IllegalTopic        // a discovery topic that Home Assistant ignores
	InvalidJSON         // a discovery config that is not JSON
	Marker              // a retained migration marker
	Command             // a retained message on a command topic
	Unnamed             // the owner's own list does not name the device
	Sparkplug           // a Sparkplug message that must not be retained
	LooksEmpty          // a value such as null, {}, "" or one space
	LookAlike           // another topic looks the same on a screen
	Invisible           // invisible characters in the topic
	FellBack            // it carried an expiry and was overwritten by a publisher without
	RefreshMissed       // it was refreshed and the next refresh is late
	StillServed         // past due and yet served
	Will                // the last will of an owner that went
	Unstamped           // without expiry although its owner's liveness topic carries one
	Replaced            // another announcement claims the same device or the same name
	HalfCleared         // attributes of a device whose own description was cleared
	Incomplete          // lacks what its owner publishes for each of its devices
	Older               // announced by an older version than the others of its device
	EmptyReplay         // replayed with an empty payload
	TooLarge            // too large to be kept whole, so it could not be read
	kinds
)

var kindNames = [kinds]string{
	"", "dangling", "never-available", "owner-offline", "device-offline", "state-without-config", "duplicate-id",
	"renamed", "illegal-topic", "invalid-json", "migration-marker", "retained-command", "unknown-name", "sparkplug",
	"looks-empty", "look-alike", "invisible-characters", "fell-back", "refresh-missed", "still-served", "will",
	"unstamped", "replaced", "half-cleared", "incomplete", "older-announcement", "empty-replay", "too-large",
}

// String returns the name that `finding:NAME` takes, such as "retained-command".
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return ""
}

// ParseKind returns the kind with that name, and false when there is none.
func ParseKind(name string) (Kind, bool) {
	for k := NoFinding + 1; k < kinds; k++ {
		if kindNames[k] == name {
			return k, true
		}
	}
	return NoFinding, false
}

// KindNames returns the names of all kinds, in the order of their constants.
func KindNames() []string { return append([]string(nil), kindNames[1:]...) }
