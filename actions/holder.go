package actions

import "strings"

// holder is who runs a clear or a restore now. The zero value is nobody.
type holder struct {
	who       string // in words, such as "process 4711"
	operation string // the clear or the restore; "" = whoever has the lock does something else, or does not say
}

// runs reports whether the operation is the one that is running.
func (h holder) runs(operation string) bool { return h.operation != "" && h.operation == operation }

func (d *Desk) lockName() string { return d.base + ".lock" }

// acts writes into the lock which operation this process runs from now on. Others read it there: an operation without an
// outcome is one that is running as long as somebody has the lock for it.
func (d *Desk) acts(verb, operation string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acting = operation
	if d.lock != nil {
		_ = d.lock.Sign(verb + " " + operation) // the lock holds without it
	}
}

// holder returns who runs an operation of the record now. Where that cannot be found out it is nobody.
func (d *Desk) holder() holder {
	d.mu.Lock()
	held, acting := d.held > 0, d.acting
	d.mu.Unlock()
	if held {
		return holder{"this process", acting}
	}
	note, held, err := d.store.Holder(d.lockName())
	if err != nil || !held {
		return holder{}
	}
	who, what, _ := strings.Cut(note, ": ")
	_, operation, _ := strings.Cut(what, " ")
	return holder{who, operation}
}
