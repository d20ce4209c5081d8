package broker

// What is true of a broker once and for all, in sentences: what it does to intervals, what it says it cannot do.

// habitNotes returns the notes for Coverage.
func (w *Watcher) habitNotes() []string {
	return nil
}
