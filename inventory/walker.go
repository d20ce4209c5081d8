package inventory

// walker stands on one row of a listing. Its methods are called with the lock held, and where it stands means nothing
// any more when the lock is let go.
type walker interface {
	// begin goes to the first row, or the last, and returns false when there is none.
	begin(last bool) bool
	// seek goes to the row of a path, or the nearest, and returns false when there is no row at all.
	seek(path string) bool
	// step goes one visible row down or up; at the end it stays and returns false.
	step(down bool) bool
	// path returns the path of the row; the bytes are borrowed.
	path() []byte
	// row fills r; bytes are appended to buf, which is returned.
	row(r *Row, buf []byte) []byte
}

// openness is which levels of a tree are open.
type openness struct {
	all    bool // what a level is that is not in except
	except map[string]struct{}
}

func (o *openness) is(path []byte) bool {
	_, ex := o.except[string(path)]
	return o.all != ex
}

func (o *openness) set(path string, open bool) {
	if open == o.all {
		delete(o.except, path)
		return
	}
	if o.except == nil {
		o.except = map[string]struct{}{}
	}
	o.except[path] = struct{}{}
}

// pathRow fills what every row of a tree has.
func pathRow(r *Row, path []byte, depth int, buf []byte) []byte {
	n := len(buf)
	buf = append(buf, path...)
	r.Prefix = buf[n:len(buf):len(buf)]
	r.Pos = posOf(path)
	r.Depth = depth - 1
	r.Name = lastLevel(r.Prefix, depth)
	return buf
}
