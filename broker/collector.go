package broker

// The garbage collector of a process whose heap is mostly the store of a broker.
// For main to call; nothing here does.

import (
	"os"
	"runtime"
	"runtime/debug"
)

// EaseCollector lets the heap grow to 16 MiB before the garbage collector runs for the first time. From then on it runs as
// usual. What fills a young heap here is the store that is read from the broker, which is no garbage: in a store of ten
// thousand topics two of its runs would cost a tenth of all the work. It does nothing where GOGC is set in the
// environment. For the whole process, so main calls it, once.
func EaseCollector() {
	const first, usual = 400, 100 // percent; the heap at which the first run is due is 4 MiB at 100
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(first)
	// Nobody holds it, so the first run finds it.
	runtime.AddCleanup(&struct{ self *int }{}, func(int) { debug.SetGCPercent(usual) }, 0)
}
