package actions

// Verdict is how a clear ended. The set is closed; the zero value is Unknown. No verdict says that a topic does not
// exist: a look tells what was not observed, by whom, and until when.
type Verdict uint8

const (
	// Unknown means that there is an intent and no outcome, or that what was written to the socket is in doubt.
	Unknown Verdict = iota
	// ClearedVerified means acknowledged, not observed by a separate observer, and the controls seen again.
	ClearedVerified
	// StillPresent means acknowledged, and the same value is served to a new subscription.
	StillPresent
	// CameBack means that the topic was written again after the acknowledgement.
	CameBack
	// Refused means that the broker answered with a code of 0x80 or above.
	Refused
	// CouldNotVerify means acknowledged, and that the read-back tells nothing.
	CouldNotVerify
	// NoAnswer means that no acknowledgement came: neither success nor failure.
	NoAnswer
	// NotSent means that a precondition did not hold and that nothing was sent.
	NotSent
	// Changed means that the value is not the one approved; nothing was sent.
	Changed
	// Vanished means that the topic was not observed before the clear; nothing was sent.
	Vanished
	// Collateral means that something nobody approved went as well: a quiet neighbour that was not due is not observed
	// any more, or a newer value was written to the topic itself just before the tombstone. An alarm.
	Collateral
	// EmptyReplay means acknowledged, and that the broker replays a retained message without payload.
	EmptyReplay
)

var verdictNames = []string{"unknown", "cleared and verified", "acknowledged, still present", "came back", "refused",
	"acknowledged, could not verify", "no answer", "not sent", "changed", "vanished", "collateral", "empty replay"}

// String returns the verdict as a person reads it.
func (v Verdict) String() string { return nameOf(verdictNames, uint8(v)) }

// MarshalText writes the verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the verdict; one that is not known is Unknown.
func (v *Verdict) UnmarshalText(b []byte) error {
	i, _ := indexOf(verdictNames, string(b))
	*v = Verdict(i)
	return nil
}

// Sent reports whether a tombstone may have reached the broker.
func (v Verdict) Sent() bool {
	switch v {
	case NotSent, Changed, Vanished:
		return false
	}
	return true
}

// Accepted reports whether the broker acknowledged the tombstone.
func (v Verdict) Accepted() bool {
	switch v {
	case ClearedVerified, StillPresent, CameBack, CouldNotVerify, Collateral, EmptyReplay:
		return true
	}
	return false
}

// Obstacle is why a clear or a restore was not sent. The zero value is none.
type Obstacle uint8

const (
	// NoObstacle means that it was sent, or that something else than an obstacle kept it back.
	NoObstacle Obstacle = iota
	// BadTopic means that the name cannot be one topic.
	BadTopic
	// NotApproved means that the manifest holds no approval for the topic.
	NotApproved
	// ApprovalMoved means that the approval is for another value than the one shown to the person.
	ApprovalMoved
	// Protected means that a pattern protects the topic.
	Protected
	// AnotherBroker means that manifest or record belong to another broker or login.
	AnotherBroker
	// Busy means that another clear runs, here or in another process.
	Busy
	// RecordUnwritable means that the line before the act could not be written and synced.
	RecordUnwritable
	// ManifestUnreadable means that there is no manifest or that it is wrong.
	ManifestUnreadable
	// ObserverFailed means that what is there could not be read.
	ObserverFailed
	// NotConnected means that not one byte could be sent.
	NotConnected
	// Left means that the person left before anything was sent.
	Left
	// NothingToRestore means that the record holds nothing that could be put back.
	NothingToRestore
	// ApprovalSpent means that a message was sent for the approval before: a clear is repeated only when it is approved anew.
	ApprovalSpent
	// Occupied means that the topic to restore holds something, and that overwriting it was not confirmed.
	Occupied
)

var obstacleNames = []string{"none", "no exact topic", "not approved", "approval changed", "protected", "another broker", "locked",
	"record not writable", "manifest not readable", "observer failed", "not connected", "left", "nothing to restore", "approval used", "topic holds something"}

// String returns a short phrase.
func (o Obstacle) String() string { return nameOf(obstacleNames, uint8(o)) }

// MarshalText writes the phrase.
func (o Obstacle) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the phrase; one that is not known is NoObstacle.
func (o *Obstacle) UnmarshalText(b []byte) error {
	i, _ := indexOf(obstacleNames, string(b))
	*o = Obstacle(i)
	return nil
}

// Found is what a look at one topic tells. The zero value is that it tells nothing.
type Found uint8

const (
	// FoundNothingOut means that the look failed, was refused, or was cut short.
	FoundNothingOut Found = iota
	// NotObserved means that the broker sent no copy, to this login, within the time stated.
	NotObserved
	// Present means that it sent a copy with a payload.
	Present
	// EmptyCopy means that it sent a retained copy without payload.
	EmptyCopy
)

var foundNames = []string{"could not tell", "not observed", "present", "empty replay"}

// String returns a short phrase.
func (f Found) String() string { return nameOf(foundNames, uint8(f)) }

// MarshalText writes the phrase.
func (f Found) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the phrase; one that is not known is FoundNothingOut.
func (f *Found) UnmarshalText(b []byte) error {
	i, _ := indexOf(foundNames, string(b))
	*f = Found(i)
	return nil
}
