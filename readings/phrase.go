package readings

// The one phrase of a column. It never says that something may go.

import (
	"fmt"
	"strings"

	"retainscope/expiry"
)

// leftWords are the short reasons of a column, by what was found.
func leftWords(v *verdict) string {
	switch v.left {
	case Renamed:
		return "renamed"
	case Unnamed:
		if v.claim.convention == "zigbee2mqtt" {
			return "name unknown to zigbee2mqtt"
		}
		return "not named by its owner"
	case OwnerOffline:
		return "owner offline"
	case Replaced, DuplicateID:
		return "replaced"
	case HalfCleared:
		return "half cleared"
	case Incomplete:
		return "lacks what its owner publishes"
	case Unstamped:
		return "written before its owner used expiry"
	case Marker:
		return "migration marker"
	case IllegalTopic:
		return "Home Assistant ignores the topic"
	case InvalidJSON:
		return "not JSON"
	case Dangling:
		return "nothing behind it"
	default:
		return v.left.String()
	}
}

// phrase words the one thing that a column says.
func (r *Reader) phrase(v *verdict, h *held, now int64) string {
	if v.ignored {
		return "ignored by a rule"
	}
	if v.hazard {
		for _, n := range v.notes[:v.n] {
			if n.kind == Sparkplug {
				return "hazard: retained Sparkplug message"
			}
		}
		return "hazard: retained command"
	}
	if v.left != NoFinding {
		return "left behind: " + leftWords(v)
	}
	if v.unread {
		return "too large to be read here"
	}
	if h.flags&heldServed != 0 {
		return "past due, still served"
	}
	if h.flags&heldFell != 0 {
		return "fell back to never"
	}
	if h.flags&heldLooksEmpty != 0 && v.claim.state != Alive {
		return fmt.Sprintf("looks empty (%d bytes)", h.size)
	}
	life := ""
	switch v.claim.state {
	case Alive:
		life = ", owner online"
	case Offline:
		life = ", owner offline"
	}
	switch s := h.standing(now); s {
	case expiry.KeptAlive, expiry.MissedOne, expiry.MissedTwo, expiry.Due:
		return s.String()
	case expiry.Expires:
		if v.claim.state == Offline {
			return "expires by itself" + life
		}
		return "expires by itself"
	case expiry.Never:
		if life != "" {
			return "never expires" + life
		}
		if v.claim.known() {
			return "never expires, owner not known to be online"
		}
		return "unknown owner"
	default:
		return strings.TrimPrefix("expiry not known"+life, ", ")
	}
}
