package cli

// What approving, clearing, putting back and the record are made of: one composition for the commands and the screen.
// Nothing is decided here, and nothing is dialled or written before it is used.

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"retainscope/actions"
	"retainscope/broker"
)

// retiring is what clears on one broker with one login. It is made once and never changed; its desk is the only one of
// the program for its manifest. Every field and method may be used from any goroutine.
type retiring struct {
	off   error // why nothing can be cleared, restored or looked at with these settings; the record can be read nevertheless
	desk  *actions.Desk
	path  string             // of the manifest; the record lies beside it
	who   actions.Person     // who approves and who acts
	guard actions.Protection // of the settings; the manifest adds its own
	watch time.Duration      // how long a return is watched for; 0 = not at all
	limit actions.Bounds     // of every act
	past  *memory            // what the journal knows of the time before, nil where there is none
	sends broker.Config      // the connections that publish
	reads broker.Config      // those that verify
}

// retiring returns the composition for the settings. The error says that there is no place for a manifest, that the
// place is none; it is one of the settings.
func (p *program) retiring(r *resolved, log *slog.Logger) (*retiring, error) {
	path, err := r.manifestPath()
	if err != nil {
		return nil, err
	}
	store, err := actions.OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	guard, err := actions.Protect(r.Clear.Protect)
	if err != nil {
		return nil, err
	}
	t := &retiring{
		desk: actions.OpenDesk(store, filepath.Base(path), time.Now), path: path, who: p.person(), guard: guard, watch: r.Clear.Window,
		limit: actions.Bounds{Send: r.MQTT.Timeout, Window: r.Clear.Window, Payload: int(r.Clear.UndoPayload)},
		past:  r.remember(nil, log), sends: r.connection(log), reads: r.connection(log),
	}
	if r.MQTT.ProtocolVersion == version311 {
		t.off = errors.New(`clears need mqtt.protocol_version = "5": with "3.1.1" a refusal by the broker would be invisible`)
	}
	if o := &r.Observer; o.User != "" {
		t.reads.User, t.reads.Password = o.User, o.Password
	}
	if o := &r.Observer; o.CertFile != "" {
		t.reads.CertFile, t.reads.KeyFile = o.CertFile, o.KeyFile
	}
	return t, nil
}

// broker names the broker that is connected; identity is what it tells of itself, empty when that is nothing or not
// known yet.
func (t *retiring) broker(identity string) actions.BrokerID {
	return actions.BrokerID{URL: t.sends.URL, User: t.sends.User, Identity: identity}
}

// identify asks the broker what it is, on a connection of its own.
func (t *retiring) identify(ctx context.Context) (actions.BrokerID, error) {
	identity, err := broker.Identify(ctx, t.sends)
	return t.broker(identity), err
}

// clearer returns what clears and puts back on the broker b, which is identify's or, where a watcher runs, its
// Link.Broker put into broker. stamps says that the broker adds intervals of its own. tell may be nil; it is called at
// every boundary of an act, on the goroutine of that act, and waited for.
func (t *retiring) clearer(b actions.BrokerID, stamps bool, tell func(actions.Progress)) *actions.Clearer {
	return &actions.Clearer{
		Desk: t.desk, Broker: b, Observer: broker.NewObserver(t.reads), Sender: broker.NewSender(t.sends), Protection: t.guard,
		Now: time.Now, Stamps: stamps, Bounds: t.limit, Tool: "retainscope " + Version(), Progress: tell,
	}
}

// person returns who sits here: under sudo the one who called it.
func (p *program) person() actions.Person {
	who := actions.Person{SudoUser: p.env["SUDO_USER"]}
	if u, err := user.Current(); err == nil {
		who.Login = u.Username
	}
	if who.Login == "" {
		who.Login = "uid " + strconv.Itoa(os.Getuid())
	}
	return who
}

// manifestPrefix begins the name of every manifest that the settings do not name.
const manifestPrefix = "manifest-"

// manifestPath returns where the manifest is: where the settings say, or beside the
// configuration, one for each broker and login, since a manifest is of one broker and one login.
func (r *resolved) manifestPath() (string, error) {
	path := r.Clear.Manifest
	switch {
	case path == "" && r.looked == "":
		return "", errors.New("there is no folder for a manifest (no HOME); name one with --manifest FILE")
	case path == "":
		path = filepath.Join(filepath.Dir(r.looked), manifestPrefix+brokerFile(r.MQTT.Broker, r.MQTT.User)+".toml")
	}
	return filepath.Abs(path)
}
