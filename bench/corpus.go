package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// corpus names topic i of n: a mix of a house and a plant, the same for the same i, mean about 46 bytes.
func corpus(layout string, i int) string {
	switch layout {
	case "flat":
		return fmt.Sprintf("topic-%07d", i)
	case "wide":
		return fmt.Sprintf("wide/%06d/state", i)
	case "deep":
		return fmt.Sprintf("site%d/hall%d/line%d/cell%d/unit%d/part%d/m%d", i%3, i/3%5, i/15%7, i/105%11, i/1155%13, i/15015%17, i)
	}
	switch i % 10 {
	case 0:
		return fmt.Sprintf("homeassistant/sensor/0x%012x/temperature/config", i)
	case 1:
		return fmt.Sprintf("zigbee2mqtt/floor_%d/device_%06d", i/10%12, i)
	case 2:
		return fmt.Sprintf("zigbee2mqtt/floor_%d/device_%06d/availability", i/10%12, i)
	case 3:
		return fmt.Sprintf("tele/tasmota_%06X/LWT", i)
	case 4:
		return fmt.Sprintf("shellies/shellyplug-s-%06X/relay/0", i)
	default:
		return fmt.Sprintf("acme/%s/%s/line-%02d/station-%03d/sensor-%06d/value",
			[]string{"lund", "gent", "turin"}[i%3], []string{"assembly", "welding", "paint"}[i/3%3], i/9%24, i/216%300, i)
	}
}

var filler = func() []byte {
	b := make([]byte, 4096)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz0123456789 ,:{}\""[i%42]
	}
	return b
}()

// payload returns the payload of topic i in its generation g; size 0 takes the mix, 49 to 823 bytes, mean about 293.
func payload(dst []byte, i, g, size int) []byte {
	if size == 0 {
		size = 49 + int(uint32(i)*2654435761>>16)%489
		if i%10 == 0 {
			size += 285
		}
	}
	dst = fmt.Appendf(dst[:0], `{"n":%d,"g":%d,"v":"`, i, g)
	for len(dst) < size {
		dst = append(dst, filler[i%1000:i%1000+min(2000, size-len(dst))]...)
	}
	return dst[:max(size, 20)]
}

// publishFrame appends one retained PUBLISH at QoS 0; expiry 0 leaves the property out.
func publishFrame(dst []byte, topic string, body []byte, expiry uint32) []byte {
	props := 0
	if expiry > 0 {
		props = 5
	}
	dst = append(dst, 0x31)
	dst = binary.AppendUvarint(dst, uint64(2+len(topic)+1+props+len(body)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(topic)))
	dst = append(dst, topic...)
	dst = append(dst, byte(props))
	if expiry > 0 {
		dst = append(dst, 0x02)
		dst = binary.BigEndian.AppendUint32(dst, expiry)
	}
	return append(dst, body...)
}

// publisher is a bare MQTT 5 connection that only writes.
type publisher struct {
	nc net.Conn
	w  *bufio.Writer
	r  *bufio.Reader
}

func dialPublisher(addr string) (*publisher, error) {
	nc, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	p := &publisher{nc: nc, w: bufio.NewWriterSize(nc, 1<<18), r: bufio.NewReader(nc)}
	id := fmt.Sprintf("bench-%08x", rand.Uint32())
	body := append([]byte{0, 4, 'M', 'Q', 'T', 'T', 5, 2, 0, 0, 0, 0, byte(len(id))}, id...)
	if _, err := nc.Write(append([]byte{0x10, byte(len(body))}, body...)); err != nil {
		return nil, err
	}
	if kind, err := p.packet(); err != nil || kind != 0x20 {
		return nil, fmt.Errorf("no CONNACK: %#x, %w", kind, err)
	}
	return p, nil
}

// packet reads one packet and returns its first byte.
func (p *publisher) packet() (byte, error) {
	kind, err := p.r.ReadByte()
	if err != nil {
		return 0, err
	}
	n, err := binary.ReadUvarint(p.r)
	if err != nil {
		return 0, err
	}
	_, err = io.CopyN(io.Discard, p.r, int64(n))
	return kind, err
}

// settle returns when the broker has handled all that was written.
func (p *publisher) settle() error {
	_, _ = p.w.Write([]byte{0xc0, 0})
	if err := p.w.Flush(); err != nil {
		return err
	}
	kind, err := p.packet()
	if err != nil || kind != 0xd0 {
		return fmt.Errorf("no PINGRESP: %#x, %w", kind, err)
	}
	return nil
}

func (p *publisher) close() {
	_, _ = p.nc.Write([]byte{0xe0, 0})
	_ = p.nc.Close()
}

// fill publishes n retained topics and returns when the broker holds them.
func fill(addr, layout string, n, size int) error {
	p, err := dialPublisher(addr)
	if err != nil {
		return err
	}
	defer p.close()
	var frame, body []byte
	for i := range n {
		body = payload(body, i, 0, size)
		expiry := uint32(0)
		if i%7 == 0 {
			expiry = 86400 + uint32(i%1000)
		}
		frame = publishFrame(frame[:0], corpus(layout, i), body, expiry)
		if _, err := p.w.Write(frame); err != nil {
			return err
		}
		if i%20000 == 19999 {
			if err := p.settle(); err != nil {
				return err
			}
		}
	}
	return p.settle()
}
