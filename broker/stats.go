package broker

// What a connection counted and what its server told of itself. Values: whoever holds one may keep it.

import (
	"time"

	"github.com/eclipse/paho.golang/paho"
)

// Stats is what one connection has counted so far.
type Stats struct {
	WireBytes    int64 // bytes received from the socket, transport included
	Publications int64 // publications delivered, of any QoS
	ReadCalls    int64 // reads from the socket
	Backlog      int64 // bytes taken from the socket and not yet decoded
	// Discarded counts publications that this connection dropped. It stays 0: a full read-ahead stops reading instead,
	// see Stalled.
	Discarded int64
	// Stalled counts how often the read-ahead was full, so that nothing was taken from the socket for StalledFor in
	// all. A server that meets a full socket may drop messages in silence: where this is not 0, so may have been some.
	Stalled    int64
	StalledFor time.Duration
	// PingsSent and PingsAnswered count PINGREQ and PINGRESP. A server that drops packets drops PINGRESP too: a
	// difference that stays after the last publication is evidence of loss.
	PingsSent, PingsAnswered  int64
	LastPublication, LastByte time.Time // zero when there was none
}

// ServerInfo is what the server said in its CONNACK, with the defaults of the standard where it said nothing.
//
// Source: MQTT 5, 3.2.2.3.
type ServerInfo struct {
	ClientID          string // in use on this connection, our own or the assigned one
	AssignedClientID  string
	MaximumQoS        byte   // 2 when the server did not say
	ReceiveMaximum    uint16 // 65535 when the server did not say
	MaximumPacketSize uint32 // 0 when the server has no limit
	KeepAlive         time.Duration

	RetainAvailable                  bool
	WildcardAvailable                bool
	SharedAvailable                  bool
	SubscriptionIdentifiersAvailable bool
	// UserProperties are in the order of the wire, as received; not safe for a terminal.
	UserProperties []UserProperty
}

// UserProperty is one name and value of the CONNACK.
type UserProperty struct{ Key, Value string }

func serverInfo(id string, keepAlive time.Duration, ca *paho.Connack) ServerInfo {
	s := ServerInfo{
		ClientID: id, MaximumQoS: 2, ReceiveMaximum: 65535, KeepAlive: keepAlive,
		RetainAvailable: true, WildcardAvailable: true, SharedAvailable: true, SubscriptionIdentifiersAvailable: true,
	}
	p := ca.Properties
	if p == nil {
		return s
	}
	if p.AssignedClientID != "" {
		s.ClientID, s.AssignedClientID = p.AssignedClientID, p.AssignedClientID
	}
	if p.MaximumQoS != nil {
		s.MaximumQoS = *p.MaximumQoS
	}
	if p.ReceiveMaximum != nil {
		s.ReceiveMaximum = *p.ReceiveMaximum
	}
	if p.MaximumPacketSize != nil {
		s.MaximumPacketSize = *p.MaximumPacketSize
	}
	if p.ServerKeepAlive != nil {
		s.KeepAlive = time.Duration(*p.ServerKeepAlive) * time.Second
	}
	s.RetainAvailable = p.RetainAvailable
	s.WildcardAvailable = p.WildcardSubAvailable
	s.SharedAvailable = p.SharedSubAvailable
	s.SubscriptionIdentifiersAvailable = p.SubIDAvailable
	for _, u := range p.User {
		s.UserProperties = append(s.UserProperties, UserProperty{u.Key, u.Value})
	}
	return s
}

// Server returns what the CONNACK said.
func (c *Conn) Server() ServerInfo { return c.server }

// Stats returns what was counted so far. It is cheap, and may be called from any goroutine.
func (c *Conn) Stats() Stats {
	s := Stats{
		WireBytes: c.t.socket.bytes.Load(), ReadCalls: c.t.socket.reads.Load(), Publications: c.publications.Load(),
	}
	s.Backlog, s.Stalled, s.StalledFor = c.ahead.figures()
	s.PingsSent, s.PingsAnswered = c.pings.counts()
	if s.WireBytes > 0 {
		s.LastByte = c.t.socket.last()
	}
	if ms := c.lastAt.Load(); ms != 0 {
		s.LastPublication = time.UnixMilli(ms)
	}
	return s
}
