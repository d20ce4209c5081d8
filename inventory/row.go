package inventory

// Spec says what a Listing shows and in which order.
type Spec struct {
	Filter *Filter // nil = all
	Sort   SortKey // of a flat listing; a tree is always in the order of topics
	Desc   bool    // of a flat listing: the whole order turned round
	Tree   bool
	Now    int64 // Unix ms, for filters that compare remaining time; 0 = the latest instant the inventory heard of
	// Within is a listing made before, or nil. Where its filter lets through all that this one does, as with a word of
	// which more was typed, only its topics are searched and those that came since. What is listed is the same.
	Within *Listing
}

// Pos is the place of a row. It is comparable, and two are equal exactly when they name the same topic, or the same
// level of a tree, also across listings. It survives changes of the store: a method that is given the place of a row
// that is gone takes the nearest one. The zero value is no place; methods take it for the first row.
type Pos struct {
	path string
	set  bool
}

// IsZero reports whether p is no place.
func (p Pos) IsZero() bool { return !p.set }

func posOf(path []byte) Pos { return Pos{path: string(path), set: true} }

// Row is one line of a listing. It is a copy: whoever holds it may keep it.
type Row struct {
	Pos    Pos
	Depth  int    // of a tree, 0 at the first level
	Name   []byte // of a tree the level, which may be empty; of a flat listing the topic
	Prefix []byte // of a tree all bytes of the topic up to the end of this level; of a flat listing the topic
	Branch bool   // has rows below it
	Open   bool   // they are shown
	Held   bool   // is a retained topic itself
	Slot   Slot   // if Held
	Sub    Counts // if Branch: sums over this level and everything below, whether listed or not
	// Matched is how many listed topics there are at this level and below; 1 in a flat listing.
	Matched int
	// Pending means that some rows below are not shown yet because a very wide level has to be put in order first. See
	// Listing.Work.
	Pending bool
}
