package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestASecretNeverPrintsItself(t *testing.T) {
	cfg := Config{URL: "mqtt://h", User: "bob", Password: secret}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("connect", "password", cfg.Password, "config", cfg)
	text, err := json.Marshal(map[string]any{"password": cfg.Password})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		fmt.Sprint(cfg.Password), fmt.Sprintf("%s %v %q %#v %+v", cfg.Password, cfg.Password, cfg.Password, cfg.Password, cfg),
		fmt.Sprintf("%#v", cfg), fmt.Sprintf("%x", cfg.Password), log.String(), string(text),
	} {
		if strings.Contains(s, secret) || strings.Contains(s, fmt.Sprintf("%x", secret)) {
			t.Errorf("the secret is in %s", s)
		}
	}
	if Secret("").String() != "" || Secret("x").String() != Secret("longer").String() {
		t.Error("the mask tells something")
	}
}

func TestAConfigIsFilled(t *testing.T) {
	c := Config{}.filled()
	if c.KeepAlive != 60*time.Second || c.Timeout != 10*time.Second || c.ReadAhead != 64<<20 || c.MaxPacket != 268435460 || c.ClientID != "retainscope" {
		t.Errorf("%+v", c)
	}
	if c.Logger == nil || c.Clock == nil {
		t.Error("no logger or no clock")
	}
	for asked, want := range map[time.Duration]time.Duration{
		time.Millisecond: time.Second, 90*time.Second + 1: 90 * time.Second, 48 * time.Hour: 65535 * time.Second,
	} {
		if got := (Config{KeepAlive: asked}).filled().KeepAlive; got != want {
			t.Errorf("a keep-alive of %s became %s", asked, got)
		}
	}
	if got := (Config{MaxPacket: 1 << 30}).filled().MaxPacket; got != maxPacket {
		t.Errorf("MaxPacket %d", got)
	}
}

func TestAClientIdentifierHasItsRandomEnd(t *testing.T) {
	for prefix, want := range map[string]int{"": 12, "retainscope": 23, "a-prefix-of-16ch": 23, strings.Repeat("x", 40): 47} {
		a, b := clientID(prefix), clientID(prefix)
		if a == b || !strings.HasPrefix(a, prefix) || len(a) != want {
			t.Errorf("%q gives %q and %q", prefix, a, b)
		}
		if strings.Trim(a[len(prefix):], idAlphabet) != "" {
			t.Errorf("%q has characters that servers may refuse", a)
		}
	}
}

func TestAddresses(t *testing.T) {
	for raw, want := range map[string]address{
		"mqtt://h":                    {network: "tcp", dial: "h:1883", host: "h"},
		"MQTT://h:99/ignored":         {network: "tcp", dial: "h:99", host: "h"},
		"tcp://[::1]":                 {network: "tcp", dial: "[::1]:1883", host: "::1"},
		"mqtts://u:p@h":               {network: "tcp", dial: "h:8883", host: "h", tls: true},
		"ssl://h":                     {network: "tcp", dial: "h:8883", host: "h", tls: true},
		"tls://h:1":                   {network: "tcp", dial: "h:1", host: "h", tls: true},
		"ws://h":                      {network: "tcp", dial: "h:80", host: "h", ws: true, request: "ws://h"},
		"ws://u:p@h:8080/a%2Fb?c=d&e": {network: "tcp", dial: "h:8080", host: "h", ws: true, request: "ws://h:8080/a%2Fb?c=d&e"},
		"wss://h/mqtt":                {network: "tcp", dial: "h:443", host: "h", tls: true, ws: true, request: "wss://h/mqtt"},
		"unix:///run/m.sock":          {network: "unix", dial: "/run/m.sock"},
		"unix:/run/m.sock":            {network: "unix", dial: "/run/m.sock"},
		"unix:m.sock":                 {network: "unix", dial: "m.sock"},
	} {
		if got, err := parseAddress(raw); err != nil || got != want {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "h", "h:1883", "://", "mqtt:", "http://h", "mqtt://:1883", "mqtt://u:" + secret + "@", "mqtt://u:" + secret + "@h:port", "unix:"} {
		if a, err := parseAddress(raw); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %+v, %v", raw, a, err)
		}
	}
}

func TestOverlongCredentialsAreRefusedHere(t *testing.T) {
	_, err := Dial(t.Context(), Config{URL: "mqtt://127.0.0.1:1", Password: Secret(strings.Repeat(secret, 10_000))}, nil, 0)
	wantFailure(t, err, StageMQTT, "longer than 65535 bytes")
}
